"""Catalogues of places as a source: a YAML description, and data beside it."""
