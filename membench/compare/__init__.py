"""Baseline against candidate: what can be compared, and what it says."""
