"""Memories: the contract, and the two that ship with membench."""
