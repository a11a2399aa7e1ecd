"""Reads Outlook emails (.msg) from the streams that contain their properties.

The names of streams and the numbers and types of properties are those of Microsoft's [MS-OXMSG],
[MS-OXPROPS] and, for compressed RTF, [MS-OXRTFCP]. python-oxmsg 0.0.2 does not read nested emails
and failed on 18 of our 115 test emails; compressed-rtf 1.0.7 rejects text that ends early.
"""

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import codec, declared_encoding, decode
from loaders.formats import rtf
from loaders.formats.content import Content, one_line
from loaders.formats.embedded_files import Part
from loaders.formats.mail import Mail, content, header_of
from loaders.formats.rtf import code_page

_FIRST = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n" + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_COMPRESSED, _PLAIN = b"LZFu", b"MELA"
_WINDOW = 4096  # bytes


def decompress(data: bytes) -> bytes:
    """Decompress RTF; if the data ends early, return the text up to there.

    Raises:
        UnreadableError: The kind of compression is unknown.
    """
    kind, packed = data[8:12], data[16:]
    if kind == _PLAIN:
        return packed
    if kind != _COMPRESSED:
        raise UnreadableError(
            _("the text of the message is damaged: save the message again in Outlook")
        )
    return _inflate(packed)


def _inflate(packed: bytes) -> bytes:
    """Decompress: each bit of a flag byte means a literal byte or a reference (offset, length)."""
    output = bytearray(_FIRST)
    at = 0
    while at < len(packed):
        flags, at = packed[at], at + 1
        for bit in range(8):
            if not flags >> bit & 1:
                output += packed[at : at + 1]
                at += 1
                continue
            pair = int.from_bytes(packed[at : at + 2], "big")
            at += 2
            # Offsets refer to a ring of 4096 bytes; one that equals the current position is the
            # end.
            back = (len(output) - (pair >> 4)) % _WINDOW
            if not back or at > len(packed):
                return bytes(output[len(_FIRST) :])
            for _n in range((pair & 15) + 2):
                output.append(output[-back] if back <= len(output) else 0x20)
    return bytes(output[len(_FIRST) :])


_TEXT, _EIGHT_BIT, _BYTES = "001F", "001E", "0102"
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER, _SENDER_MAIL, _SENDER_ADDRESS = "0C1A", "5D01", "0C1F"
_TO, _CC = "0E04", "0E03"
_SUBMITTED, _RECEIVED = 0x0039, 0x0E06
_CODE_PAGES = (0x3FFD, 0x3FDE)  # for the properties, and for the original body
_FILE_NAME, _SHORT_NAME, _SHOWN_NAME, _FILE = "3707", "3704", "3001", "3701"
_ATTACHMENT, _EMBEDDED = "__attach_version1.0_#", "__substg1.0_3701000D"
_PROPERTIES = "__properties_version1.0"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_DEPTH = 2  # an email in an email in an email
_ENCRYPTED = _("encrypted: open it in Outlook, save its text, and import that file")


def read(data: bytes) -> Content:
    """Read an email: subject, sender, recipients, date, text (or else HTML), and attachments.

    Raises:
        UnreadableError: The file is not an Outlook email, or is damaged.
    """
    from olefile import OleFileIO  # type: ignore[import-untyped]

    with OleFileIO(io.BytesIO(data)) as file:
        if not file.exists(_PROPERTIES):
            raise UnreadableError(_("it is not an Outlook message: save it again as .msg"))
        return content(_mail(file, "", depth=0))


def _mail(file: Any, folder: str, depth: int) -> Mail:
    storage = _Storage(file, folder, header=24 if folder else 32)
    mail = Mail(subject=storage.text(_SUBJECT), headers=_headers(storage))
    mail.text = storage.text(_BODY)
    mail.html = _html(storage)
    if not mail.text.strip() and not mail.html and (packed := storage.bytes(_RTF)):
        mail.text = rtf.read(decompress(packed)).text
    mail.parts = list(_attachments(file, folder, depth))
    is_encrypted = any(part.name.lower() == "smime.p7m" for part in mail.parts)
    if not mail.text.strip() and not mail.html and is_encrypted:
        raise UnreadableError(_ENCRYPTED)
    return mail


class _Storage:
    """The properties of an email or an attachment."""

    def __init__(self, file: Any, folder: str, header: int) -> None:
        self._file, self._folder = file, folder
        table = self._stream(_PROPERTIES)[header:]
        self._fixed = {  # property number -> its eight bytes
            int.from_bytes(table[at + 2 : at + 4], "little"): table[at + 8 : at + 16]
            for at in range(0, len(table) - 15, 16)
        }

    def _stream(self, name: str) -> bytes:
        path = f"{self._folder}{name}"
        return bytes(self._file.openstream(path).read()) if self._file.exists(path) else b""

    def bytes(self, number: str) -> bytes:
        """A property's bytes; empty if it is missing."""
        return self._stream(f"__substg1.0_{number}{_BYTES}")

    def text(self, number: str) -> str:
        """A property's text; empty if it is missing."""
        if wide := self._stream(f"__substg1.0_{number}{_TEXT}"):
            return wide.decode("utf-16-le", "replace")
        data = self._stream(f"__substg1.0_{number}{_EIGHT_BIT}")
        for page in self.code_pages():
            try:
                return data.decode(page)
            except UnicodeError:
                continue
        return decode(data).text if data else ""

    def code_pages(self) -> Iterator[str]:
        """Yield the codecs that it names for its eight-bit texts, the most likely first."""
        for number in _CODE_PAGES:
            page = code_page(int.from_bytes(self._fixed.get(number, b"")[:4], "little"))
            if page and number in self._fixed:
                yield codec(page) or page

    def moment(self, number: int) -> str:
        """A time property, such as `2026-11-21 10:00+00:00`; empty if it is missing."""
        ticks = int.from_bytes(self._fixed.get(number, b""), "little")
        try:
            moment = _EPOCH + timedelta(microseconds=ticks // 10)
        except OverflowError:
            return ""
        return moment.isoformat(sep=" ", timespec="minutes") if ticks else ""


def _headers(storage: _Storage) -> dict[str, str]:
    """Sender, recipients, and date, from the original headers or else from Outlook's properties."""
    sent = header_of(storage.text(_HEADERS))
    name = one_line(storage.text(_SENDER))
    address = storage.text(_SENDER_MAIL) or storage.text(_SENDER_ADDRESS)
    sender = f"{name} <{address}>" if "@" in address and address != name else name or address
    return {
        "From": sent.get("From") or sender,
        "To": sent.get("To") or one_line(storage.text(_TO)),
        "Cc": sent.get("Cc") or one_line(storage.text(_CC)),
        "Date": sent.get("Date") or storage.moment(_SUBMITTED) or storage.moment(_RECEIVED),
    }


def _html(storage: _Storage) -> str:
    data = storage.bytes(_HTML)
    if not data:
        return storage.text(_HTML)
    encoding = declared_encoding(data) or next(storage.code_pages(), None)
    return decode(data, declared=encoding).text


def _attachments(file: Any, folder: str, depth: int) -> Iterator[Part]:
    inside = folder.split("/")[:-1]
    paths = (path for path in file.listdir() if path[: len(inside)] == inside)
    names = dict.fromkeys(path[len(inside)] for path in paths)
    for name in sorted(name for name in names if name.startswith(_ATTACHMENT)):
        yield _attachment(file, f"{folder}{name}/", depth)


def _attachment(file: Any, folder: str, depth: int) -> Part:
    storage = _Storage(file, folder, header=8)
    names = (storage.text(number) for number in (_FILE_NAME, _SHORT_NAME, _SHOWN_NAME))
    name = one_line(next(filter(None, names), "attachment")).replace("/", "_")
    if not file.exists(f"{folder}{_EMBEDDED}"):
        return Part(name, partial(storage.bytes, _FILE))
    return Part(name, partial(_embedded_mail, file, f"{folder}{_EMBEDDED}/", depth + 1))


def _embedded_mail(file: Any, folder: str, depth: int) -> Content:
    if depth > _MAX_DEPTH:
        raise UnreadableError(
            _("nested more than {max_depth} messages deep").format(max_depth=_MAX_DEPTH)
        )
    return content(_mail(file, folder, depth))
