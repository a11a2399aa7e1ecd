"""A Confluence site as LangChain's document loaders are used."""

from loaders.confluence.pages import ConfluencePages
from loaders.lazy import LazyLoader


class ConfluenceLoader(ConfluencePages, LazyLoader):
    """`ConfluencePages` with LangChain's contract."""
