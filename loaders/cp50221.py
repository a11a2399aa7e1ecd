"""Decodes code page 50221, which is ISO-2022-JP with the characters of Windows.

Outlook labels it ISO-2022-JP. Python's codecs of ISO-2022-JP reject NEC's row 13 (①, ㈱, №) and
IBM's kanji (髙), in place of which JIS X 0213 has others. Here, the two-byte characters are those
of code page 932, as in CP50220 (www.iana.org/assignments/charset-reg/CP50220) and in the decoder of
the WHATWG (encoding.spec.whatwg.org/#iso-2022-jp-decoder).
"""

import re

_TWO_BYTES = re.compile(rb"\x1b\$[@B]([^\x1b]*)")
_CHARACTER = re.compile(rb"[!-~]{1,2}")
_INCOMPLETE = b"\x81"


def decode_cp50221(data: bytes) -> str:
    """The text; invalid bytes become U+FFFD."""
    return "".join(
        _two_bytes(part) if number % 2 else part.decode("iso2022_jp_ext", "replace")
        for number, part in enumerate(_TWO_BYTES.split(data))
    )


def _two_bytes(characters: bytes) -> str:
    return _CHARACTER.sub(_shift_jis, characters).decode("cp932", "replace")


def _shift_jis(character: re.Match[bytes]) -> bytes:
    """The character's bytes in Shift_JIS, which has half as many lead bytes as JIS has rows."""
    if len(character[0]) == 1:
        return _INCOMPLETE
    row, cell = character[0]
    lead = (row - 0x21) // 2 + (0x81 if row < 0x5F else 0xC1)
    trail = cell + (0x1F if cell < 0x60 else 0x20) if row % 2 else cell + 0x7E
    return bytes((lead, trail))
