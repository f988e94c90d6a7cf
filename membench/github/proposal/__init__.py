"""The baseline pull request: what stands on GitHub, what to do about it, and doing it."""
