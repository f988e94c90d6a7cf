"""Reports: the files that a run leaves, their schemas and their canonical form."""
