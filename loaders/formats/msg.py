"""Outlook mails (.msg), read from the streams in which they keep their properties.

Names of streams, numbers and types of properties are those of Microsoft's [MS-OXMSG] and
[MS-OXPROPS].
"""

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from errors import UnreadableError
from loaders.encoding import codec, declared_encoding, decode
from loaders.formats import rtf
from loaders.formats.content import Content, one_line
from loaders.formats.eml import header_of
from loaders.formats.mail import Mail, content
from loaders.formats.msg_rtf import unpacked
from loaders.formats.parts import Part
from loaders.formats.rtf_tokens import code_page

_TEXT, _EIGHT_BIT, _BYTES = "001F", "001E", "0102"
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER, _SENDER_MAIL, _SENDER_ADDRESS = "0C1A", "5D01", "0C1F"
_TO, _CC = "0E04", "0E03"
_SUBMITTED, _RECEIVED = 0x0039, 0x0E06
_CODE_PAGES = (0x3FFD, 0x3FDE)  # of the properties, and of the body as it was sent
_FILE_NAME, _SHORT_NAME, _SHOWN_NAME, _FILE = "3707", "3704", "3001", "3701"
_ATTACHMENT, _EMBEDDED = "__attach_version1.0_#", "__substg1.0_3701000D"
_PROPERTIES = "__properties_version1.0"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_DEPTH = 2  # a mail in a mail in a mail
_ENCRYPTED = "encrypted: open it in Outlook, save its text and import that"


def read(data: bytes) -> Content:
    """Read a mail: subject, people and date, its text (or HTML for want of it), attachments.

    Raises:
        UnreadableError: It is no mail of Outlook, or is damaged.
    """
    from olefile import OleFileIO  # type: ignore[import-untyped]  # it has no types

    with OleFileIO(io.BytesIO(data)) as file:
        if not file.exists(_PROPERTIES):
            raise UnreadableError("it is no mail of Outlook: save it again as .msg")
        return content(_mail(file, "", depth=0))


def _mail(file: Any, folder: str, depth: int) -> Mail:
    storage = _Storage(file, folder, header=24 if folder else 32)
    mail = Mail(subject=storage.text(_SUBJECT), headers=_headers(storage))
    mail.text = storage.text(_BODY)
    mail.html = _html(storage)
    if not mail.text.strip() and not mail.html and (packed := storage.bytes(_RTF)):
        mail.text = rtf.read(unpacked(packed)).text
    mail.parts = list(_attachments(file, folder, depth))
    if not mail.text.strip() and not mail.html and _is_encrypted(mail):
        raise UnreadableError(_ENCRYPTED)
    return mail


def _is_encrypted(mail: Mail) -> bool:
    return any(part.name.lower() == "smime.p7m" for part in mail.parts)


class _Storage:
    """The properties of a mail or an attachment."""

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
        """A property's bytes; empty where there is none."""
        return self._stream(f"__substg1.0_{number}{_BYTES}")

    def text(self, number: str) -> str:
        """A property's text; empty where there is none."""
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
        """The codecs of its eight-bit texts that it names, likeliest first."""
        for number in _CODE_PAGES:
            page = code_page(int.from_bytes(self._fixed.get(number, b"")[:4], "little"))
            if page and number in self._fixed:
                yield codec(page) or page

    def moment(self, number: int) -> str:
        """A property that is a time, as `2026-11-21 10:00+00:00`; empty where there is none."""
        ticks = int.from_bytes(self._fixed.get(number, b""), "little")
        try:
            moment = _EPOCH + timedelta(microseconds=ticks // 10)
        except OverflowError:
            return ""
        return moment.isoformat(sep=" ", timespec="minutes") if ticks else ""


def _headers(storage: _Storage) -> dict[str, str]:
    """Who wrote to whom and when: as the mail was sent, else as Outlook tells it."""
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
    told = declared_encoding(data) or next(storage.code_pages(), None)
    return decode(data, declared=told).text


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
    return Part(name, partial(_embedded, file, f"{folder}{_EMBEDDED}/", depth + 1))


def _embedded(file: Any, folder: str, depth: int) -> Content:
    if depth > _MAX_DEPTH:
        raise UnreadableError(f"lies more than {_MAX_DEPTH} mails deep in others")
    return content(_mail(file, folder, depth))
