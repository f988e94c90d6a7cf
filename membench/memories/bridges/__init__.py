"""Memories of the caller's own, over three bridges with one contract: a Python object, a command, an HTTP service."""
