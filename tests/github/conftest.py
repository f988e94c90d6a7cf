"""Tests against the local GitHub have it as the fixture ``hub``."""

from github_server.fixtures import hub

__all__ = ["hub"]
