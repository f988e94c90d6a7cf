"""A small corpus that travels with the package, written by a seeded generator from the stories in `stories/`."""
