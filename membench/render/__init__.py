"""Rendering: from reports to Markdown."""
