"""Sources of documents: their kinds, settings, secrets, and upload boxes.

Each kind (folder, upload box, Confluence, Google Drive, catalog) is a `SourceKind`, which creates
the loader of a source. The package is based on `services.imports`; the import worker, the other
services, and the interfaces use it.
"""
