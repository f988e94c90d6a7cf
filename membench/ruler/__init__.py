"""The ruler: runs arms and keeps account."""
