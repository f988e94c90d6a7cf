"""Runs from beginning to end: open, load, measure, write. What the commands and the action call."""
