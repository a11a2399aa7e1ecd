"""Catalogs of places as a source: a YAML description, and data in JSON Lines, CSV, or Parquet.

`catalog_places.CatalogPlaces` lists and reads the places; `catalog_description` validates the
description, `tables` reads the files, `catalog_data` joins places with their reviews, and
`place_document` converts a place to a document. Imported by `services`.
"""
