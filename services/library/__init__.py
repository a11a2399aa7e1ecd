"""Lists, shows, imports again, and removes single documents of the library.

The library page, the document reader, the API, and the agent import this package, which imports no
other use case.
"""
