"""Lists, shows, reimports, and removes individual documents of the library.

The library page, the document reader, the API, and the agent import this package, which imports no
other use case.
"""
