"""Catalogs of places as a source: a YAML description, and data in JSON Lines, CSV, or Parquet.

`catalog_places.CatalogPlaces` lists the places and converts them to documents;
`catalog_description` validates the description, `tables` reads the files, and `catalog_data` joins
places with their reviews. Imported by `services`.
"""
