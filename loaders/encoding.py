"""Decoding text whose encoding nobody states, or states wrongly."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from errors import UnreadableError
from loaders import plausibility

_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_SCORES: dict[str, plausibility.Score] = {
    "cp949": plausibility.korean,
    "johab": plausibility.korean,
    "cp932": plausibility.japanese,
    "euc_jp": plausibility.japanese,
    "gb18030": plausibility.simplified_chinese,
    "big5": plausibility.traditional_chinese,
    "cp1252": plausibility.western,
    "cp1250": plausibility.central_european,
    "cp1251": plausibility.cyrillic,
    "koi8_r": plausibility.cyrillic,
}
_SINGLE_BYTE = frozenset({"cp1252", "cp1250", "cp1251", "koi8_r"})
# What authors call a superset that their pages really use.
_SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-2": "cp1250", "euc_kr": "cp949",
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "big5hkscs": "big5",
    "cp950": "big5", "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8",
}  # fmt: skip
_ALIASES = {"ks_c_5601-1987": "cp949", "x-sjis": "cp932", "x-euc-jp": "euc_jp", "x-gbk": "gb18030"}
# NEC's row 13 (circled digits, units) stands in many EUC-JP files; only this codec knows it.
_WIDER = {"euc_jp": "euc_jis_2004", "big5": "big5hkscs"}

_DECLARED = re.compile(
    rb"<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]+)"
    rb"|<meta[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)",
    re.IGNORECASE,
)
_ESCAPES = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$@", "iso2022_jp"),
    (b"\x1b$B", "iso2022_jp"),
    (b"\x1b$(D", "iso2022_jp_2"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_MAX_CONTROLS = 0.01
_DECLARED_BONUS = 0.5
_ACCEPTED = 0.25  # below this a candidate is not writing but an accident
_SURE = 0.5
_SURE_MARGIN = 0.25
_MAX_DAMAGE = 0.02  # of the letters outside ASCII
_SAMPLE_BYTES = 1 << 20
_HIGH = re.compile(rb"[\x80-\xff]")
_BINARY = "it is not text: its bytes belong to no known encoding"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the encoding it was in, and what the reader should know about the decoding."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def declared_encoding(data: bytes) -> str | None:
    """The encoding that an HTML or XML file names for itself, as a codec; None where it doesn't.

    UTF-16 comes back as UTF-8: a declaration readable as ASCII proves it wrong.
    """
    match = _DECLARED.search(data[:8192])
    return codec((match[1] or match[2]).decode("ascii")) if match else None


def codec(label: str) -> str | None:
    """The codec for an encoding's name, of what authors really mean by it; None if unknown."""
    label = _ALIASES.get(label.lower(), label)
    try:
        name = codecs.lookup(label).name
        "".encode(name)
    except LookupError:  # unknown, or not an encoding of text
        return None
    return _SUPERSETS.get(name, name)


def decode(data: bytes, *, declared: str | None = None) -> Decoded:
    """Decode text: by its byte order mark, as UTF-8, as declared, or by what reads like writing.

    Valid UTF-8 outranks a declaration, for hardly any other text is valid UTF-8 by accident.

    Args:
        data: The whole file.
        declared: A codec that the file names for itself; used unless the bytes contradict it.

    Raises:
        UnreadableError: The bytes are no text, or belong to no known encoding.
    """
    found = _marked(data) or _wide(data) or _escaped(data) or _utf8(data)
    found = found or _legacy(data, declared) or _damaged(data, declared) or _guessed(data)
    if found is None or _is_binary(found.text):
        raise UnreadableError(_BINARY)
    return found


def _is_binary(text: str) -> bool:
    # A few stray controls, say NULs between records, are dropped later and harm nothing.
    return len(_CONTROLS.findall(text)) > max(2, _MAX_CONTROLS * len(text))


def _strict(data: bytes, encoding: str, *, final: bool = True) -> str | None:
    """The text, or None where a byte is wrong; without `final` a letter may be cut off."""
    for codec in (encoding, _WIDER.get(encoding, encoding)):
        try:
            return codecs.getincrementaldecoder(codec)().decode(data, final)
        except UnicodeError:
            continue
    return None


def _sample(data: bytes) -> bytes:
    """Enough to judge by: from the line with the first letter outside ASCII."""
    if len(data) <= _SAMPLE_BYTES:
        return data
    first = _HIGH.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    return data[start : start + _SAMPLE_BYTES]


def _marked(data: bytes) -> Decoded | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return Decoded(text, encoding, _damage(text))
    return None


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 and UTF-32 without a mark: NUL bytes give them away."""
    if b"\0" not in data:
        return None
    score, encoding = max(_wide_candidates(data[:_SAMPLE_BYTES]), default=(0.0, ""))
    text = _strict(data, encoding) if score >= _SURE else None
    return None if text is None else Decoded(text, encoding)


def _wide_candidates(sample: bytes) -> Iterator[tuple[float, str]]:
    for encoding in _WIDE:
        if text := _strict(sample, encoding, final=False):
            yield plausibility.unicode_text(text), encoding


def _escaped(data: bytes) -> Decoded | None:
    """ISO-2022: seven-bit text that switches letters by escape sequences."""
    for escape, encoding in _ESCAPES:
        if escape in data and data.isascii() and (text := _strict(data, encoding)) is not None:
            return Decoded(text, encoding)
    return None


def _utf8(data: bytes) -> Decoded | None:
    text = _strict(data, "utf-8")
    return None if text is None else Decoded(text, "utf-8")


def _candidates(sample: bytes, declared: str | None) -> Iterator[tuple[float, str]]:
    told_byte = declared is not None and declared not in _SCORES.keys() - _SINGLE_BYTE
    for encoding, score in _SCORES.items():
        if told_byte and encoding in _SINGLE_BYTE and encoding != declared:
            continue  # which alphabet of 256 letters it is, the file knows better
        if text := _strict(sample, encoding, final=False):
            controls = 3 * len(_CONTROLS.findall(text)) / len(text)
            yield score(text) - controls + _DECLARED_BONUS * (encoding == declared), encoding
    if declared and declared not in _SCORES and _strict(sample, declared, final=False):
        yield _SURE + _ACCEPTED, declared
    if len(sample) % 2 == 0:  # without a NUL, so without any ASCII: a line or two
        yield from _wide_candidates(sample)


def _legacy(data: bytes, declared: str | None) -> Decoded | None:
    ranked = sorted(_candidates(_sample(data), declared), reverse=True)
    for rank, (score, encoding) in enumerate(ranked):
        text = _strict(data, encoding) if score >= _ACCEPTED else None
        if text is not None:
            margin = score - (ranked[rank + 1][0] if rank + 1 < len(ranked) else 0.0)
            sure = score >= _SURE and margin >= _SURE_MARGIN and encoding not in _SINGLE_BYTE
            return Decoded(text, encoding, () if sure or encoding == declared else _guess(encoding))
    text = _strict(data, declared) if declared else None
    return None if text is None or declared is None else Decoded(text, declared, _guess(declared))


def _damaged(data: bytes, declared: str | None) -> Decoded | None:
    """A text with a few broken bytes: the rest is worth having, and the reader is told."""
    best: tuple[float, str, str] = (_ACCEPTED, "", "")
    for encoding in dict.fromkeys((declared or "utf-8", "utf-8", "cp949", "cp932", "euc_jp")):
        text = data.decode(encoding, "replace")
        letters = sum(map(len, re.findall(r"[^\x00-\x7f]+", text)))
        broken = text.count("\ufffd")
        damage = broken / max(1, letters)
        rating = _SCORES[encoding](text) if encoding in _SCORES else _SURE
        score = rating - 5 * damage
        if score > best[0] and (damage <= _MAX_DAMAGE or broken <= min(3, letters // 20)):
            best = (score, encoding, text)
    _, encoding, text = best
    return Decoded(text, encoding, _damage(text)) if encoding else None


def _guessed(data: bytes) -> Decoded | None:
    """Scripts without a score of ours (Greek, Hebrew, Arabic, Thai ...)."""
    from charset_normalizer import from_bytes  # slow to import

    match = from_bytes(data[:65_536]).best()
    text = None if match is None else _strict(data, match.encoding)
    if match is None or text is None:
        return None
    return Decoded(text, match.encoding, _guess(match.encoding))


def _guess(encoding: str) -> tuple[str, ...]:
    return (f"the encoding was guessed as {encoding}: if letters look wrong, save it as UTF-8",)


def _damage(text: str) -> tuple[str, ...]:
    count = text.count("\ufffd")
    return (f"{count} broken bytes or letters show as \ufffd",) if count else ()
