"""Imports of sources: queueing and planning them, and writing documents to the index.

`ImportService` runs one import or determines what it would do, `ImportQueue` manages the requested
runs, and `MaintenanceService` recovers, checks, and reindexes the library.
`index_writer` implements the crash protocol. The package is independent of the kinds of sources:
`services.sources`, the import worker, and other services import it, but it imports none of them.
"""
