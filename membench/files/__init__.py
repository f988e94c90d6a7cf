"""Files: where they are kept, whole or absent, verified, fetched, and held by one run at a time."""
