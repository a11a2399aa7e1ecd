"""Reads documents of unknown origin, each with limits on what it may cost (`reader_process`).

Everything that parses the bytes of a document in the product goes through this module.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loaders.reader_frames import message_of
from loaders.reader_limits import Limits
from loaders.reader_process import ReaderProcess

if TYPE_CHECKING:
    from langchain_core.documents import Document

DOCUMENTS = ReaderProcess()
PICTURES = ReaderProcess(Limits(processor_s=20, elapsed_s=60.0))
"""Separate, because a person waits for a picture, and not until a document has been read."""
_MAX_PAGES = 2**31


def read_document(name: str, data: bytes) -> "Document":
    """Read a file like `loaders.formats.read_document`, in a process with limits.

    Raises:
        UnreadableError: The file can't be read, or exceeds a limit; the message gives the reason.
            TemporarilyUnreadableError if a retry may succeed.
    """
    from langchain_core.documents import Document  # slow

    metadata, data = DOCUMENTS.call("read_file", {"name": name}, data)
    try:
        text = data.decode("utf-8", "surrogatepass")
        return Document(page_content=text, metadata=_checked(metadata, len(text)))
    except (TypeError, KeyError, ValueError, OverflowError, RecursionError) as error:
        raise DOCUMENTS.invalid_reply() from error


def draw_page(data: bytes, page: int, quotes: Sequence[str] = ()) -> bytes:
    """Draw a page of a PDF like `loaders.formats.pdf.page_png`, in a process with limits.

    Raises:
        UnreadableError: The PDF has no such page, can't be rendered, or exceeds a limit.
    """
    return PICTURES.call("draw_page", {"page": page, "quotes": list(quotes)}, data)[1]


def _checked(metadata: Mapping[str, Any], text_chars: int) -> dict[str, Any]:
    """The metadata of a file with a text of this length.

    Raises:
        TypeError, KeyError, ValueError, OverflowError, RecursionError: It has another form.
    """
    title, name, encoding = (metadata[key] for key in ("title", "format", "encoding"))
    if not (isinstance(title, str) and isinstance(name, str) and isinstance(encoding, str | None)):
        raise TypeError("not text")
    return {
        "title": title,
        "format": name,
        "encoding": encoding,
        "pages": _checked_pages(metadata["pages"], text_chars),
        "warnings": [message_of(warning) for warning in metadata["warnings"]],
    }


def _checked_pages(pages: Sequence[Any], text_chars: int) -> list[tuple[int, int]]:
    """The start of each page in the text, in order, and its number."""
    checked = [(int(start), int(page)) for start, page in pages]
    starts = [start for start, _page in checked]
    if not all(0 <= start <= text_chars and 0 < page < _MAX_PAGES for start, page in checked):
        raise ValueError("a page outside the text")
    if starts != sorted(starts):
        raise ValueError("pages in another order")
    return checked
