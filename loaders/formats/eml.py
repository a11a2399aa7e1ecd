"""Mails as mail programs save them (.eml, RFC 5322 and MIME)."""

import mimetypes
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial

from errors import UnreadableError
from loaders.encoding import codec, decode
from loaders.formats.content import Content, one_line
from loaders.formats.mail import Mail, content
from loaders.formats.parts import Part

_KNOWN = frozenset({"from", "to", "subject", "date", "received", "message-id", "mime-version"})
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_LAYOUT = ("image/", "application/pgp-signature", "application/pkcs7-signature")
_MAX_HEADER = 20_000  # characters; a list of a thousand recipients


def read(data: bytes) -> Content:
    """Read a mail: subject, people and date, its text (or HTML for want of it), attachments.

    Raises:
        UnreadableError: It is no mail, or is encrypted.
    """
    if b"\0" in data[:100]:  # UTF-16: mails have no such byte
        data = decode(data).text.encode()
    message = message_from_bytes(data.lstrip())
    if not _KNOWN & {name.lower() for name in message.keys()}:  # noqa: SIM118  # no mapping
        raise UnreadableError("it is no mail: it begins with none of the lines From, To, Subject")
    mail = Mail(subject=_header(message, "Subject"), headers=_headers(message))
    for part in _leaves(message):
        _take(mail, part)
    if not mail.text.strip() and not mail.html and message.get_content_type() in _ENCRYPTED:
        raise UnreadableError("encrypted: open it in its mail program and save its text")
    return content(mail)


def header_of(text: str) -> dict[str, str]:
    """From, To, Cc and Date, decoded, of a mail's lines of header; empty where not there."""
    return _headers(message_from_bytes(text.encode("utf-8", "replace")))


def _headers(message: Message) -> dict[str, str]:
    headers = {name: _header(message, name) for name in ("From", "To", "Cc", "Date")}
    try:
        date = parsedate_to_datetime(headers["Date"])
        headers["Date"] = date.isoformat(sep=" ", timespec="minutes")
    except (TypeError, ValueError, IndexError, OverflowError):  # shown as it is written
        pass
    return headers


def _header(message: Message, name: str) -> str:
    """A header as people read it; empty where the mail has none."""
    raw = (value for key, value in message.raw_items() if key.lower() == name.lower())
    value = str(next(raw, ""))[:_MAX_HEADER]
    if not value.isascii():  # eight-bit letters, which the standard does not allow
        return one_line(_decoded(value.encode("utf-8", "surrogateescape"), None))
    try:
        words = decode_header(value)
    except (HeaderParseError, ValueError):
        return one_line(value)
    return one_line("".join(_word(word, label) for word, label in words))


def _word(word: str | bytes, label: str | None) -> str:
    if isinstance(word, str):
        return word
    return _decoded(word, label) if label else word.decode("ascii", "replace")


def _decoded(data: bytes, label: str | None) -> str:
    """The text of a label's encoding; where the bytes belong to another, of the likeliest."""
    known = codec(label) if label else None
    try:
        return data.decode(known or "utf-8")
    except UnicodeError:
        pass
    try:
        return decode(data, declared=known).text
    except UnreadableError:
        return data.decode("utf-8", "replace")


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold something, of alternatives the one that reads best.

    A mail within the mail is one part.
    """
    kind = message.get_content_type()
    below = message.get_payload()
    if not isinstance(below, list) or kind == "message/rfc822":
        yield message
        return
    parts = [part for part in below if isinstance(part, Message)]
    if kind == "multipart/alternative":
        plain = [part for part in parts if _is_written(part)]
        parts = plain or parts
    for part in parts:
        yield from _leaves(part)


def _is_written(part: Message) -> bool:
    return part.get_content_type() == "text/plain" and bool(_payload(part).strip())


def _payload(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _take(mail: Mail, part: Message) -> None:
    kind, name = part.get_content_type(), _name(part)
    if kind == "message/rfc822":
        mail.parts.append(_nested(part, name))
    elif kind in ("text/plain", "text/html") and not name and not _is_attached(part):
        _take_text(mail, part, kind)
    elif name or not kind.startswith(_LAYOUT):
        suffix = mimetypes.guess_extension(kind) or ""
        mail.parts.append(Part(name or f"attachment{suffix}", partial(_payload, part)))


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _take_text(mail: Mail, part: Message, kind: str) -> None:
    label = part.get_content_charset()
    try:
        decoded = decode(_payload(part), declared=codec(label) if label else None)
    except UnreadableError as error:
        mail.warnings.append(f"its text can't be read: {error}")
        return
    mail.encoding = mail.encoding or decoded.encoding
    mail.warnings += decoded.warnings
    text = decoded.text.replace("\r\n", "\n")
    if kind == "text/html":
        mail.html += text
    else:
        flowed = part.get_param("format") == "flowed"
        mail.text += f"\n{_joined(text) if flowed else text}"


def _joined(text: str) -> str:
    """Text of RFC 3676, whose lines that end in a space go on in the next."""
    return re.sub(r"(?<!\n--)(?<=\S) \n(?=[^\s>])", " ", text)


def _name(part: Message) -> str:
    """The file name an attachment has; empty where it has none."""
    try:
        name = part.get_filename()
    except (LookupError, UnicodeError, ValueError):  # a charset that Python does not know
        return ""
    if not name:
        return ""
    if "=?" in name:
        words = decode_header(name)
        name = "".join(_word(word, label) for word, label in words)
    elif not name.isascii():
        name = _decoded(name.encode("utf-8", "surrogateescape"), None)
    return one_line(name.replace("/", "_"))


def _nested(part: Message, name: str) -> Part:
    below = part.get_payload()
    inner = below[0] if isinstance(below, list) and below else None
    if not isinstance(inner, Message):
        return Part(name or "mail.eml", partial(_payload, part))
    shown = _header(inner, "Subject").replace("/", "_")
    return Part(f"{shown or 'mail'}.eml", inner.as_bytes)
