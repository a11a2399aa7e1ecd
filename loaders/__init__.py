"""Loaders list and read the documents of a source; `split` divides their text into passages.

A loader has `list(previous)` and `read(ref)`. The directory loader is in this package; those of
Confluence, Google Drive, and catalogs have their own subpackages. `formats` reads files of every
type. Only `services` and `bootstrap` import this package; of the other layers, loaders know only
`domain`.
"""
