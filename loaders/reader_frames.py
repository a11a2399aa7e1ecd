"""What a process and its reader process send each other: a JSON header and bytes.

The reader process reads documents of unknown origin, so its parent trusts nothing that it sends:
sizes are limited, messages are rebuilt from their templates only if these are plain, and metadata
is checked.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import IO, Any

from domain.messages import Message

_SIZES = struct.Struct(">QQ")  # bytes of the header and of the body
_MAX_HEADER = 16 * 2**20
_MAX_MESSAGE = 4 * 2**20  # characters
_MAX_PAGES = 2**31


class InvalidFrameError(Exception):
    """The other process sent something that is not a valid frame."""


def write_frame(pipe: IO[bytes], header: Mapping[str, Any], body: bytes = b"") -> None:
    """Send a frame; raises OSError if the other process no longer reads."""
    encoded = json.dumps(header).encode()
    pipe.write(_SIZES.pack(len(encoded), len(body)) + encoded)
    pipe.write(body)
    pipe.flush()


def read_frame(pipe: IO[bytes], max_body: float = float("inf")) -> tuple[dict[str, Any], bytes]:
    """Wait for a frame, and return its header and its body of at most `max_body` bytes.

    Raises:
        EOFError: The other process has closed the pipe.
        InvalidFrameError: It did not send a valid frame.
    """
    header_size, body_size = _SIZES.unpack(_read(pipe, _SIZES.size))
    if header_size > _MAX_HEADER or body_size > max_body:
        raise InvalidFrameError(f"a frame of {header_size} and {body_size} bytes")
    encoded, body = _read(pipe, header_size), _read(pipe, body_size)
    try:
        header = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise InvalidFrameError("no JSON") from error
    if not isinstance(header, dict):
        raise InvalidFrameError("no JSON object")
    return header, body


def _read(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def message_of(value: Any) -> str:
    """The message of which `to_json` returned this value, in the language of its reader.

    Raises:
        ValueError: It is not a message, or its template is not plain.
    """
    match value:
        case str():
            return value
        case {"message": str() as template, "values": dict() as values}:
            texts = {name: message_of(one) for name, one in values.items()}
            if texts:
                _require_plain(template, texts)
            return Message(template, texts)
    raise ValueError("not a message")


def _require_plain(template: str, texts: Mapping[str, str]) -> None:
    """Refuse what a format string can do beyond inserting these texts, such as padding."""
    length = 0
    for literal, name, padding, conversion in Formatter().parse(template):
        length += len(literal)
        if name is not None:
            if not name.isidentifier() or padding or conversion:
                raise ValueError("not a plain template")
            length += len(texts.get(name, ""))
    if length > _MAX_MESSAGE:
        raise ValueError("the message is too long")


def checked_metadata(metadata: Mapping[str, Any], text_chars: int) -> dict[str, Any]:
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
