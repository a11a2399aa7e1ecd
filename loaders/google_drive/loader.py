"""A Drive as LangChain's document loaders are used."""

from loaders.google_drive.files import DriveFiles
from loaders.lazy import LazyLoader


class GoogleDriveLoader(DriveFiles, LazyLoader):
    """`DriveFiles` with LangChain's contract."""
