"""Generates the sample catalogs of fictional places for trying the catalog search."""
