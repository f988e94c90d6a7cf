"""Embedding: pinned models, the llama.cpp embedder, its identity, and the vector cache."""
