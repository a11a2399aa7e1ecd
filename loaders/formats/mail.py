"""Reads emails saved by mail programs (.eml, RFC 5322 and MIME), and formats those of .msg."""

import mimetypes
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import codec, decode
from loaders.formats.content import Content, heading, one_line
from loaders.formats.embedded_files import Part, sections
from loaders.formats.html import to_markdown

_HEADERS = ("From", "To", "Cc", "Date")
_UNNAMED = "(no subject)"


@dataclass(slots=True)
class Mail:
    """An email: the headers From, To, Cc, and Date, decoded; `html` is used only without `text`."""

    subject: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""
    html: str = ""
    encoding: str | None = None
    parts: list[Part] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def content(mail: Mail) -> Content:
    """Format an email: the subject as heading, headers, the text, and the text of attachments."""
    header_lines = (f"{name}: {mail.headers[name]}" for name in _HEADERS if mail.headers.get(name))
    body, warnings = _body(mail)
    attachments = sections(mail.parts, level=2)
    subject = one_line(mail.subject)
    blocks = [heading(1, subject or _UNNAMED), "\n".join(header_lines), body, attachments.text]
    text = "\n\n".join(block for block in blocks if block.strip())
    warnings = (*mail.warnings, *warnings, *attachments.warnings)
    return Content(text, subject, mail.encoding, warnings=warnings)


def _body(mail: Mail) -> tuple[str, Sequence[str]]:
    if mail.text.strip() or not mail.html.strip():
        return mail.text.strip("\n"), ()
    return _markdown(mail.html)


def _markdown(html: str) -> tuple[str, Sequence[str]]:
    text, title, warnings = to_markdown(html)
    return text.removeprefix(f"# {title}\n\n"), warnings  # the subject is the heading


_HEADER_NAMES = frozenset(
    {"from", "to", "subject", "date", "received", "message-id", "mime-version"}
)
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_LAYOUT = ("image/", "application/pgp-signature", "application/pkcs7-signature")
_MAX_HEADER = 20_000  # characters; enough for a thousand recipients


def read_eml(data: bytes) -> Content:
    """Read an email: subject, sender, recipients, date, text and HTML, and attachments.

    Raises:
        UnreadableError: The file is not an email, or is encrypted.
    """
    if b"\0" in data[:100]:  # UTF-16: emails contain no NUL
        data = decode(data).text.encode()
    message = message_from_bytes(data.lstrip())
    if not _HEADER_NAMES & {name.lower() for name in message.keys()}:  # noqa: SIM118  # not a mapping
        raise UnreadableError(
            _("it is not an email: it does not begin with a From, To, or Subject line")
        )
    mail = Mail(subject=_header(message, "Subject"), headers=_headers(message))
    for part in _leaves(message):
        _take(mail, part)
    if not mail.text.strip() and message.get_content_type() in _ENCRYPTED:
        raise UnreadableError(_("encrypted: open it in your mail program and save its text"))
    return content(mail)


def header_of(text: str) -> dict[str, str]:
    """The decoded From, To, Cc, and Date in the header lines of an email; empty if missing."""
    return _headers(message_from_bytes(text.encode("utf-8", "replace")))


def _headers(message: Message) -> dict[str, str]:
    headers = {name: _header(message, name) for name in ("From", "To", "Cc", "Date")}
    try:
        date = parsedate_to_datetime(headers["Date"])
        headers["Date"] = date.isoformat(sep=" ", timespec="minutes")
    except (TypeError, ValueError, IndexError, OverflowError):  # shown as written
        pass
    return headers


def _header(message: Message, name: str) -> str:
    """A header in readable form; empty if the email has none."""
    raw = (value for key, value in message.raw_items() if key.lower() == name.lower())
    return _readable(str(next(raw, ""))[:_MAX_HEADER])


def _readable(text: str) -> str:
    """The text of a header, decoded, on one line."""
    # The standard allows neither eight-bit characters nor escape sequences of ISO-2022.
    if not text.isascii() or "\x1b$" in text or "\x1b(" in text:
        return one_line(_decode(text.encode("utf-8", "surrogateescape"), None))
    try:
        words = decode_header(text)
    except (HeaderParseError, ValueError):
        return one_line(text)
    return one_line("".join(_word(word, label) for word, label in words))


def _word(word: str | bytes, label: str | None) -> str:
    if isinstance(word, str):
        return word
    return _decode(word, label) if label else word.decode("ascii", "replace")


def _decode(data: bytes, label: str | None) -> str:
    """Decode with the encoding of a label, or with the most likely one if that does not fit."""
    encoding = codec(label) if label else None
    if encoding:
        with suppress(UnicodeError):
            return data.decode(encoding)
    try:
        return decode(data, declared=encoding).text
    except UnreadableError:
        return data.decode("utf-8", "replace")


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the leaf parts; of alternatives, only files beside those with plain text and no HTML.

    A nested email is one part.
    """
    kind = message.get_content_type()
    below = message.get_payload()
    if not isinstance(below, list) or kind == "message/rfc822":
        yield message
        return
    parts = [part for part in below if isinstance(part, Message)]
    if kind == "multipart/alternative":
        yield from _alternatives(parts)
        return
    for part in parts:
        yield from _leaves(part)


def _alternatives(parts: Sequence[Message]) -> Sequence[Message]:
    plain: list[Message] = []
    others: list[Message] = []
    for part in parts:
        version = list(_leaves(part))
        (plain if _is_plain_version(version) else others).extend(version)
    return [*plain, *filter(_is_attached_file, others)] if plain else others


def _is_plain_version(leaves: Sequence[Message]) -> bool:
    body = [leaf for leaf in leaves if _is_body(leaf)]
    return any(map(_is_plain_text, body)) and not any(map(_is_html, body))


def _is_attached_file(part: Message) -> bool:
    """Whether this is neither another form of the text, such as an invitation, nor a logo."""
    kind = part.get_content_maintype()
    return kind != "image" and (kind != "text" or not _is_body(part))


def _is_plain_text(part: Message) -> bool:
    return part.get_content_type() == "text/plain" and bool(_payload(part).strip())


def _is_html(part: Message) -> bool:
    return part.get_content_type() == "text/html"


def _is_body(part: Message) -> bool:
    """Whether this is not an attachment."""
    return not _name(part) and part.get_content_disposition() != "attachment"


def _payload(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _take(mail: Mail, part: Message) -> None:
    kind, name = part.get_content_type(), _name(part)
    if kind == "message/rfc822":
        mail.parts.append(_nested_mail(part, name))
    elif kind in ("text/plain", "text/html") and _is_body(part):
        _take_text(mail, part)
    elif name or not kind.startswith(_LAYOUT):
        suffix = mimetypes.guess_extension(kind) or ""
        mail.parts.append(Part(name or f"attachment{suffix}", partial(_payload, part)))


def _take_text(mail: Mail, part: Message) -> None:
    label = part.get_content_charset()
    try:
        decoded = decode(_payload(part), declared=codec(label) if label else None)
    except UnreadableError as error:
        mail.warnings.append(_("its text can't be read: {error}").format(error=error))
        return
    mail.encoding = mail.encoding or decoded.encoding
    mail.warnings += decoded.warnings
    text, warnings = _format(part, decoded.text.replace("\r\n", "\n"))
    mail.warnings += warnings
    if text.strip():
        mail.text += text.strip("\n") + "\n\n"


def _format(part: Message, text: str) -> tuple[str, Sequence[str]]:
    """The text of a part as the email shows it, and warnings."""
    if _is_html(part):
        return _markdown(text)
    return (_join_lines(text) if part.get_param("format") == "flowed" else text), ()


def _join_lines(text: str) -> str:
    """Join the lines of RFC 3676 text: a line that ends in a space continues on the next."""
    return re.sub(r"(?<!\n--)(?<=\S) \n(?=[^\s>])", " ", text)


def _name(part: Message) -> str:
    """The file name of an attachment; empty if it has none."""
    try:
        name = part.get_filename()
    except (LookupError, UnicodeError, ValueError):  # a charset unknown to Python
        return ""
    return _readable(name or "").replace("/", "_")


def _nested_mail(part: Message, name: str) -> Part:
    below = part.get_payload()
    inner = below[0] if isinstance(below, list) and below else None
    if not isinstance(inner, Message):
        return Part(name or "mail.eml", partial(_payload, part))
    subject = _header(inner, "Subject").replace("/", "_")
    return Part(f"{subject or 'mail'}.eml", inner.as_bytes)
