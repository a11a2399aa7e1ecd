"""Search over the active index: modes, scopes, spelling, suggestions, and missing evidence.

`SearchService` is the entry point; its module also has `Library`, with the size, notices, and
active index of the library. `ranking` maps each search mode to its ranker and is slow to import.
The chat, the agent, the catalog, and the evaluation use this package; it imports only
`services.imports`, for the index and its state.
"""
