"""Corpora: pinned files, loaders, selections, and the survey that fingerprints what is measured."""
