"""Damages files: bytes, parts of archives, elements, compressed streams, and compound files."""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from random import Random
from warnings import catch_warnings, simplefilter

MOST_BYTES = 2**20
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
_TOKENS: Sequence[bytes] = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"%s%n", b"../../etc/passwd", b"-1",
    b"1e309", b"NaN", b"9" * 400, b"\r\n\r\n", b"]]>", b"-->", b"<!--", b"<![CDATA[", b"&lt;",
    b"&#0;", b"&#x110000;", b"<!DOCTYPE a [<!ENTITY b 'cc'>]>", b"&b;", b"&x;",
    b"<?xml version='1.1' encoding='utf-7'?>", b"<!DOCTYPE a [<!ENTITY x SYSTEM '/etc/passwd'>]>",
    b"xmlns:q='u'", b"rowspan='65535'", b"colspan='-1'", b"<svg><style>", b"<table><tr><td>",
    b"</p>", b"{\\rtf", b"\\bin999999999 ", b"\\u-99999?", b"{\\*\\pict ", b"&a [*a, *a]",
    b"!!python/object:os.system", b"? - : -", b"\t", b"|", b"stream\n", b"endstream", b"endobj",
    b"obj<</Length 99999999>>", b"/Kids[2 0 R]", b"/Parent 1 0 R", b"/FlateDecode",
    b"/Filter[/FlateDecode/FlateDecode]", b"/Rotate 45", b"/MediaBox[0 0 1e9 1e9]",
    b"Content-Type: multipart/mixed; boundary=x\r\n", b"--x\r\n", b"=?utf-8?B?//?=", b"base64",
    b"charset='x'", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
)  # fmt: skip
_TAG = re.compile(rb"<[^<>]{0,400}>")
_ATTRIBUTE = re.compile(rb"=\s*(\"[^\"<]*\"|'[^'<]*')")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)

Mutation = Callable[[bytes, Random], bytes]


def flip_bits(data: bytes, random: Random) -> bytes:
    """Invert one to eight bits."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def truncate(data: bytes, random: Random) -> bytes:
    """Keep the beginning or the end."""
    at = random.randrange(len(data))
    return data[:at] if random.random() < 0.8 else data[at:]


def cut_out(data: bytes, random: Random) -> bytes:
    """Remove a piece from the middle."""
    start = random.randrange(len(data))
    return data[:start] + data[start + random.choice((1, 2, 16, 300)) :]


def splice(data: bytes, random: Random) -> bytes:
    """Copy a piece to another place."""
    start, at = random.randrange(len(data)), random.randrange(len(data))
    return data[:at] + data[start : start + random.choice((4, 64, 2_000))] + data[at:]


def insert_token(data: bytes, random: Random) -> bytes:
    """Insert or overwrite with something that means much to a parser."""
    token, at = random.choice(_TOKENS), random.randrange(len(data) + 1)
    skipped = len(token) if random.random() < 0.5 else 0
    return data[:at] + token + data[at + skipped :]


def set_number(data: bytes, random: Random) -> bytes:
    """Overwrite a binary number with an extreme one."""
    number, size = random.choice(_NUMBERS), random.choice("BHI")
    packed = struct.pack(
        random.choice("<>") + size, number & (2 ** (8 * struct.calcsize(size)) - 1)
    )
    at = random.randrange(len(data))
    return data[:at] + packed + data[at + len(packed) :]


def repeat_piece(data: bytes, random: Random) -> bytes:
    """Repeat a piece up to thousands of times."""
    start = random.randrange(len(data))
    piece = data[start : start + random.choice((1, 3, 20, 200))]
    times = min(random.choice((3, 100, 5_000)), MOST_BYTES // len(piece))
    return data[:start] + piece * times + data[start:]


def noise(data: bytes, random: Random) -> bytes:
    """Replace a piece with random bytes."""
    start, size = random.randrange(len(data)), random.choice((4, 40, 400))
    return data[:start] + random.randbytes(size) + data[start + size :]


def nest(data: bytes, random: Random) -> bytes:
    """Repeat an opening tag or bracket, so that the rest is nested deeply."""
    tags = [one[0] for one in _TAG.finditer(data) if not one[0].startswith((b"</", b"<?", b"<!"))]
    opening = random.choice([*tags, b"[", b'{"a":', b"{\\b ", b"> ", b"- "])
    at = random.choice([one.start() for one in _TAG.finditer(data)] or [0])
    times = min(random.choice((20, 300, 20_000)), MOST_BYTES // len(opening))
    return data[:at] + opening * times + data[at:]


def change_elements(data: bytes, random: Random) -> bytes:
    """Remove, repeat, or swap tags."""
    tags = list(_TAG.finditer(data))
    if len(tags) < 2:
        return insert_token(data, random)
    one, other = sorted(random.sample(tags, 2), key=re.Match.start)
    if random.random() < 0.4:
        return data[: one.start()] + data[one.end() :]
    if random.random() < 0.5:
        return data[: one.end()] + other[0] + data[one.end() :]
    middle = data[one.end() : other.start()]
    return data[: one.start()] + other[0] + middle + one[0] + data[other.end() :]


def change_attribute(data: bytes, random: Random) -> bytes:
    """Give an attribute an extreme value."""
    found = list(_ATTRIBUTE.finditer(data))
    if not found:
        return insert_token(data, random)
    one = random.choice(found)
    value = random.choice((b"", b"-1", b"0", b"99999999", b"1e9", b"NaN", b"a" * 5_000, b"&#0;"))
    return data[: one.start(1) + 1] + value + data[one.end(1) - 1 :]


def change_stream(data: bytes, random: Random) -> bytes:
    """Damage a compressed stream of a PDF, and compress it again."""
    found = list(_STREAM.finditer(data))
    if not found:
        return insert_token(data, random)
    one = random.choice(found)
    try:
        content = zlib.decompress(one[1])
    except zlib.error:
        content = one[1]
    changed = zlib.compress(mutated(content or b" ", "", random))
    return data[: one.start(1)] + changed + data[one.end(1) :]


BYTES: Sequence[Mutation] = (
    flip_bits, truncate, cut_out, splice, insert_token, set_number, repeat_piece, noise,
)  # fmt: skip
MARKUP: Sequence[Mutation] = (*BYTES, nest, change_elements, change_elements, change_attribute)
_OF_FORMAT: Mapping[str, Sequence[Mutation]] = {
    ".pdf": (*BYTES, change_stream, change_stream, change_stream),
    **dict.fromkeys(
        (".html", ".xml", ".storage", ".json", ".yaml", ".rtf", ".md", ".ipynb"), MARKUP
    ),
}


def mutated(data: bytes, suffix: str, random: Random) -> bytes:
    """The file with one to four damages, of at most about a mebibyte."""
    if data.startswith(b"PK\x03\x04") and random.random() < 0.8:
        return _mutated_archive(data, random)
    choices = _OF_FORMAT.get(suffix, MARKUP if data.lstrip()[:1] == b"<" else BYTES)
    for _ in range(random.choice((1, 1, 2, 4))):
        data = random.choice(choices)(data or b"\0", random)[: 2 * MOST_BYTES]
    return data


def _mutated_archive(data: bytes, random: Random) -> bytes:
    """The archive with a damaged, missing, repeated, renamed, or huge part and right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    at = random.randrange(len(parts))
    name, content = parts[at]
    match random.randrange(10):
        case 0:
            del parts[at]
        case 1:
            parts.append((name, mutated(content, "", random)))
        case 2:
            parts[at] = (mutated(name.encode(), "", random).decode("latin-1")[:200] or "x", content)
        case 3:
            parts[at] = (name, content[:100] + b" " * random.choice((10**4, 10**7)) + content[100:])
        case 4:
            parts[at] = (name, data)
        case _:
            parts[at] = (name, mutated(content, "", random))
    return _archive(parts, random)


def _archive(parts: Sequence[tuple[str, bytes]], random: Random) -> bytes:
    out = io.BytesIO()
    method = random.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    with zipfile.ZipFile(out, "w", method) as archive, catch_warnings():
        simplefilter("ignore")  # two parts of the same name
        for name, content in parts:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()
