"""RTF as a stream of tokens, and the encodings of its bytes.

Control words, symbols and charset numbers are those of Microsoft's "Rich Text Format (RTF)
Specification", version 1.9.1.
"""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])"
    r"|([^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_CHARSETS = {
    2: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030",
    136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip


class Token(NamedTuple):
    """One of: a word with its number (None without one), a symbol, a brace, or bytes of text."""

    word: str = ""
    number: int | None = None
    symbol: str = ""
    brace: str = ""
    text: bytes = b""


def tokens(data: bytes) -> Iterator[Token]:
    """Yield what stands in the file in its order; binary data and line breaks are left out."""
    source = data.decode("latin-1")
    at = 0
    while match := _TOKEN.match(source, at):
        at = match.end()
        word, digits, byte, symbol, brace, text = match.groups()
        number = int(digits) if digits else None
        if word == "bin":
            at += max(0, number or 0)
        elif word:
            yield Token(word=word, number=number)
        elif byte:
            yield Token(text=bytes.fromhex(byte))
        elif text:
            yield Token(text=text.encode("latin-1"))
        elif symbol or brace:
            yield Token(symbol=symbol or "", brace=brace or "")


def charset(number: int) -> str | None:
    """The codec of a font's charset number; None where it is the document's own."""
    return _CHARSETS.get(number)


def code_page(number: int) -> str | None:
    """The codec of a code page number; None where Python knows none."""
    name = {0: "cp1252", 1361: "johab", 10000: "mac_roman", 65001: "utf-8"}.get(number)
    name = name or f"cp{number}"
    try:
        codecs.lookup(name)
    except LookupError:
        return None
    return name


def decoded(data: bytes, codec: str) -> str:
    """The text; bytes that the codec does not know are read as Western European."""
    try:
        return data.decode(codec)
    except UnicodeError:
        return data.decode("cp1252", "replace") if len(data) < 3 else data.decode(codec, "replace")
