"""Catalogs of fictional places for trying the catalog search."""
