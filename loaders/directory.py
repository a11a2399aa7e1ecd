"""A folder as LangChain's document loaders are used."""

from loaders.files import DirectoryFiles
from loaders.lazy import LazyLoader


class DirectoryLoader(DirectoryFiles, LazyLoader):
    """`DirectoryFiles` with LangChain's contract; documents come in the order of their keys."""
