"""Metrics: pure functions from ranks to figures."""
