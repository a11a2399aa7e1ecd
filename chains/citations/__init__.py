"""Citation markers in answers, and the search for their quotes in the stored documents.

This package imports neither LangChain at run time nor other parts of `chains`, so that all of
them can import it.
"""
