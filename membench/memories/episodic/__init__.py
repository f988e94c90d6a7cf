"""The built-in system under test: an episodic memory with recency decay, importance and diversity reranking."""
