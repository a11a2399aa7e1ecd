"""Decodes text whose encoding is missing or wrongly declared.

charset-normalizer decides only if none of our own scores fits, because it takes short texts in
EUC-JP for another encoding. ftfy only counts mojibake; it changes nothing.
"""

import codecs
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path

from domain.errors import UnreadableError
from domain.messages import _
from loaders.cp50221 import decode_cp50221

SUSPECTED = _(
    "some text looks wrongly decoded (such as Ã© for é): it may have been saved in the wrong"
    " encoding"
)
_CHECKED = 200_000  # characters examined
_MIN_FOUND = 3
_PER_CHARACTER = 1 / 1000
_REPLACEMENT = "\ufffd"


def is_suspected(text: str) -> bool:
    """Whether more than one character in a thousand, and more than a few, seem to be mojibake.

    This counts the sequences that ftfy considers bad (UTF-8, cp949, and others read as Latin
    letters) and the replacement characters that careless converters leave.
    """
    from ftfy.badness import badness  # slow, and not needed by an import without changes

    sample = text[:_CHECKED]
    if sample.isascii():
        return False
    count = badness(sample) + sample.count(_REPLACEMENT)
    return count >= max(_MIN_FOUND, _PER_CHARACTER * len(sample))


_BOMS = (  # UTF-32 first: its little-endian BOM begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_SINGLE_BYTE = frozenset({"cp1252", "cp1250", "cp1251", "koi8_r"})
# Authors often declare an encoding but use its superset.
_SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-2": "cp1250", "euc_kr": "cp949",
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "big5hkscs": "big5",
    "cp950": "big5", "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8",
}  # fmt: skip
_ALIASES = {"ks_c_5601-1987": "cp949", "x-sjis": "cp932", "x-euc-jp": "euc_jp", "x-gbk": "gb18030"}
# Many EUC-JP files use NEC's row 13 (circled digits, units), which only this codec supports.
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
    (b"\x1b(I", "iso2022_jp_ext"),  # half-width kana
)
_TWO_BYTES = b"\x1b$"  # begins each escape sequence for a set of two-byte characters
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_MAX_CONTROLS = 0.01
_DECLARED_BONUS = 0.5
_ACCEPTED = 0.25  # a lower score means noise, not writing
_SURE = 0.5
_SURE_MARGIN = 0.25
_MAX_DAMAGE = 0.02  # of the letters outside ASCII
_MAX_JAPANESE_DAMAGE = 0.1  # likewise; English words misread as kanji have about 0.25
_SAMPLE_BYTES = 1 << 20
_HIGH = re.compile(rb"[\x80-\xff]")
_COMMON_LETTERS = Path(__file__).with_name("common_letters.toml")
_BINARY = _("it is not text: its bytes match no known encoding")
_SCORED_LETTERS = 4000  # enough to decide, and a 50 MB file takes no longer than a page
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_NON_ASCII_RUN = re.compile(r"[^\x00-\x7f]+")
_SWAPPED = re.compile(r"[а-яё][А-ЯЁ]")
_MIXED = re.compile(r"[A-Za-z][Ѐ-џ]|[Ѐ-џ][A-Za-z]")
_WESTERN = "¿¡éèêàâçùüöäßñóíáúôîïëæøåãœþðýÉÀÖÜÄÅØÇÑÓÍÁÚÊÞ"
_HUNGARIAN = "õû"  # ő and ű in Windows-1250, so they are evidence for neither
_CENTRAL = "áéíóúýöüőűąćęłńśźżčďěňřšťůžôäâîăşţÁÉÍÓÖÜŐŰŁŚŻČŘŠŽ"
_TYPOGRAPHY = "ªº“”‘’–—…•·©®™€£«»°§\xa0"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїє"

_COMMON, _KNOWN, _RARE, _ALIEN = 1.0, 0.3, -0.5, -1.0
# Encoding, lead bytes and weights of its levels 2 and 1, and the penalty on the score: if two East
# Asian scripts fit, Chinese is less likely.
_EAST_ASIAN = {
    "korean": ("euc_kr", (0xCA, 0xFD, -0.2), (0xB0, 0xC8, _KNOWN), 0.0),
    "japanese": ("euc_jp", (0xD0, 0xF4, _RARE), (0xB0, 0xCF, _KNOWN), 0.0),
    "simplified": ("gb2312", (0xD8, 0xF7, _RARE), (0xB0, 0xD7, 0.2), 0.1),
    "traditional": ("big5", (0xC9, 0xF9, _RARE), (0xA4, 0xC6, 0.2), 0.1),
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, its original encoding, and warnings about the decoding for the reader."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def declared_encoding(data: bytes) -> str | None:
    """The codec for the encoding that an HTML or XML file declares; None if it declares none.

    A declaration of UTF-16 returns UTF-8: it can't be right if it is readable as ASCII.
    """
    match = _DECLARED.search(data[:8192])
    return codec((match[1] or match[2]).decode("ascii")) if match else None


def codec(label: str) -> str | None:
    """The codec for the encoding that authors mean by this name; None if unknown."""
    label = _ALIASES.get(label.lower(), label)
    try:
        name = codecs.lookup(label).name
        "".encode(name)
    except LookupError:  # unknown, or not a text encoding
        return None
    return _SUPERSETS.get(name, name)


def decode(data: bytes, *, declared: str | None = None) -> Decoded:
    """Decode text by its byte order mark, as UTF-8, as declared, or by the most plausible encoding.

    Valid UTF-8 takes precedence over a declaration, because hardly any other text is valid UTF-8 by
    accident.

    Args:
        data: The whole file.
        declared: The codec that the file declares; used unless the bytes contradict it.

    Raises:
        UnreadableError: The bytes are not text, or not in any known encoding.
    """
    decoded = _decode_with_mark(data) or _wide(data) or _decode_escapes(data) or _utf8(data)
    decoded = decoded or _legacy(data, declared) or _decode_damage(data, declared)
    decoded = decoded or _decode_by_guess(data)
    # A few stray control characters, such as NULs between records, are harmless and dropped later.
    if decoded is None or (
        len(_CONTROLS.findall(decoded.text)) > max(2, _MAX_CONTROLS * len(decoded.text))
    ):
        raise UnreadableError(_BINARY)
    return decoded


def _strict(data: bytes, encoding: str, *, final: bool = True) -> str | None:
    """The text; None if a byte is invalid. Unless `final`, the last character may be incomplete."""
    for codec in (encoding, _WIDER.get(encoding, encoding)):
        try:
            return codecs.getincrementaldecoder(codec)().decode(data, final)
        except UnicodeError:
            continue
    return None


def _sample(data: bytes) -> bytes:
    """A sample to judge by: from the line with the first non-ASCII letter."""
    if len(data) <= _SAMPLE_BYTES:
        return data
    first = _HIGH.search(data)
    start = data.rfind(b"\n", 0, first.start()) + 1 if first else 0
    return data[start : start + _SAMPLE_BYTES]


def _decode_with_mark(data: bytes) -> Decoded | None:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return Decoded(text, encoding, _damage(text))
    return None


def _wide(data: bytes) -> Decoded | None:
    """Decode UTF-16 and UTF-32 without a byte order mark, recognizable by their NUL bytes."""
    if b"\0" not in data:
        return None
    score, encoding = max(_wide_candidates(data[:_SAMPLE_BYTES]), default=(0.0, ""))
    text = _strict(data, encoding) if score >= _SURE else None
    return None if text is None else Decoded(text, encoding)


def _wide_candidates(sample: bytes) -> Iterator[tuple[float, str]]:
    for encoding in _WIDE:
        if text := _strict(sample, encoding, final=False):
            yield _any_script(text), encoding


def _decode_escapes(data: bytes) -> Decoded | None:
    """Decode ISO-2022: seven-bit text that switches character sets by escape sequences."""
    encodings = [name for escape, name in _ESCAPES if escape in data and data.isascii()]
    for encoding in encodings:
        if (text := _strict(data, encoding)) is not None:
            return Decoded(text, encoding)
    if not any(encoding.startswith("iso2022_jp") for encoding in encodings):
        return None
    text = decode_cp50221(data)
    letters = len(text) - len(text.encode("ascii", "ignore"))
    if text.count(_REPLACEMENT) > max(1, _MAX_JAPANESE_DAMAGE * letters):
        return None  # plain text that mentions an escape sequence
    return Decoded(text, "iso2022_jp", _damage(text))  # Python has no name for code page 50221


def _utf8(data: bytes) -> Decoded | None:
    """Decode UTF-8; a guess if the text contains escape sequences of an unknown ISO-2022."""
    text = _strict(data, "utf-8")
    warnings = _guess("utf-8") if _TWO_BYTES in data else ()
    return None if text is None else Decoded(text, "utf-8", warnings)


def _candidates(sample: bytes, declared: str | None) -> Iterator[tuple[float, str]]:
    has_single_byte_declaration = (
        declared is not None and declared not in _SCORES.keys() - _SINGLE_BYTE
    )
    for encoding, score in _SCORES.items():
        if has_single_byte_declaration and encoding in _SINGLE_BYTE and encoding != declared:
            continue  # for single-byte encodings, trust the declaration
        if text := _strict(sample, encoding, final=False):
            controls = 3 * len(_CONTROLS.findall(text)) / len(text)
            yield score(text) - controls + _DECLARED_BONUS * (encoding == declared), encoding
    if declared and declared not in _SCORES and _strict(sample, declared, final=False):
        yield _SURE + _ACCEPTED, declared
    if len(sample) % 2 == 0:  # has no NUL, so no ASCII: a line or two
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


def _decode_damage(data: bytes, declared: str | None) -> Decoded | None:
    """Decode text with a few broken bytes: the rest is worth keeping, with a warning."""
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


def _decode_by_guess(data: bytes) -> Decoded | None:
    """Decode scripts for which this module has no score (Greek, Hebrew, Arabic, Thai ...)."""
    from charset_normalizer import from_bytes  # slow to import

    match = from_bytes(data[:65_536]).best()
    text = None if match is None else _strict(data, match.encoding)
    if match is None or text is None:
        return None
    return Decoded(text, match.encoding, _guess(match.encoding))


def _guess(encoding: str) -> tuple[str, ...]:
    return (
        _(
            "the encoding is a guess ({encoding}): if characters look wrong, save the file as UTF-8"
        ).format(encoding=encoding),
    )


def _damage(text: str) -> tuple[str, ...]:
    count = text.count("\ufffd")
    return (
        (_("{count} invalid bytes or characters are shown as �").format(count=count),)
        if count
        else ()
    )


# How much a decoded text looks like writing. A strict decoder alone can't distinguish EUC-KR from
# EUC-JP or GB 2312, which share their byte ranges; they differ in how common the decoded letters
# are. A score ranges from about -1 (noise) to 1 (plain writing); ASCII letters don't count.


def _rows(encoding: str, first: int, last: int) -> str:
    """The letters of a two-byte encoding with lead bytes in this range."""
    pairs = (bytes((a, b)) for a in range(first, last + 1) for b in range(0x40, 0xFF))
    return "".join(pair.decode(encoding, "ignore") for pair in pairs)


@cache
def _common_letters() -> Mapping[str, str]:
    return tomllib.loads(_COMMON_LETTERS.read_text(encoding="utf-8"))


@cache
def _weights(script: str) -> Mapping[str, float]:
    """The weight of each letter of an East Asian script; punctuation and symbols are neutral."""
    neutral = (*range(0x2010, 0x2070), *range(0x3000, 0x3040), *range(0xFF01, 0xFF5F))
    weights = dict.fromkeys(map(chr, neutral), 0.0)
    weights |= dict.fromkeys("·×÷°§¶±①②③④⑤⑥⑦⑧⑨→←↑↓○●◎◇◆□■△▲▽▼☆★※", 0.0)
    encoding, *levels, _ = _EAST_ASIAN[script]
    for first, last, weight in levels:
        weights |= dict.fromkeys(_rows(encoding, first, last), weight)
    weights |= dict.fromkeys(_common_letters()[script], _COMMON)
    if script == "japanese":
        kana = (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC)
        weights |= dict.fromkeys(map(chr, kana), _COMMON)
    return weights


@cache
def _cyrillic_weights() -> Mapping[str, float]:
    weights = dict.fromkeys(_CYRILLIC + _CYRILLIC.upper(), 0.0)
    weights |= dict.fromkeys("щэфъхцющ", _RARE) | dict.fromkeys(_TYPOGRAPHY + "№", 0.0)
    return weights | dict.fromkeys("оеаинтсрвл", _COMMON)


@cache
def _any_weights() -> Mapping[str, float]:
    """Weights for UTF-16 and UTF-32: every script is possible, but not every letter is likely."""
    weights = {chr(c): _ALIEN for c in range(0x20)}
    weights |= dict.fromkeys(map(chr, range(0xA0, 0x600)), 0.4)
    for table in map(_weights, ("traditional", "simplified", "japanese", "korean")):
        weights |= {c: max(w, weights.get(c, w)) for c, w in table.items()}
    return weights | dict.fromkeys(map(chr, (9, 10, 13, *range(0x20, 0x7F))), _COMMON)


def _mean(letters: Iterable[str], weights: Mapping[str, float]) -> float:
    scores = [weights.get(letter, _ALIEN) for letter in letters]
    return sum(scores) / len(scores) if scores else 0.0


def _non_ascii(text: str) -> Iterator[str]:
    return (match[0] for match in islice(_NON_ASCII.finditer(text), _SCORED_LETTERS))


def _east_asian(script: str, text: str) -> float:
    return _mean(_non_ascii(text), _weights(script)) - _EAST_ASIAN[script][-1]


def _any_script(text: str) -> float:
    """Score a text that may be in any script, including its ASCII letters."""
    return _mean(text[:_SCORED_LETTERS], _any_weights())


def _latin(letters: str, handicap: float, text: str) -> float:
    """Score a text as Latin: accented letters are isolated; runs of them are a misread script."""
    scores: list[float] = []
    for run in islice(_NON_ASCII_RUN.finditer(text), _SCORED_LETTERS):
        beside = text[max(0, run.start() - 1) : run.start()] + text[run.end() : run.end() + 1]
        in_word = any(letter.isalpha() for letter in beside) and len(run[0]) <= 2
        for letter in run[0]:
            if letter in _TYPOGRAPHY:
                scores.append(0.4 if len(run[0]) <= 2 else 0.0)
            elif letter not in _HUNGARIAN:
                scores.append(0.7 if in_word and letter in letters else _ALIEN)
    return (sum(scores) / len(scores) if scores else 0.0) - handicap


def _cyrillic(text: str) -> float:
    """Score a text as Cyrillic; capitals inside words reveal KOI8 read as Windows-1251."""
    letters = "".join(_non_ascii(text))
    misread = len(_SWAPPED.findall(letters)) + len(_MIXED.findall(text[: 10 * _SCORED_LETTERS]))
    return _mean(letters, _cyrillic_weights()) - 2 * misread / max(1, len(letters))


_SCORES: Mapping[str, Callable[[str], float]] = {
    "cp949": partial(_east_asian, "korean"),
    "johab": partial(_east_asian, "korean"),
    "cp932": partial(_east_asian, "japanese"),
    "euc_jp": partial(_east_asian, "japanese"),
    "gb18030": partial(_east_asian, "simplified"),
    "big5": partial(_east_asian, "traditional"),
    "cp1252": partial(_latin, _WESTERN, 0.0),
    "cp1250": partial(_latin, _CENTRAL, 0.05),
    "cp1251": _cyrillic,
    "koi8_r": _cyrillic,
}
