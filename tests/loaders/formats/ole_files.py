"""Compound files ([MS-CFB], version 3), as Outlook and Hangul write them."""

import struct
import zlib
from collections.abc import Mapping, Sequence

SECTOR, SMALL, CUTOFF = 512, 64, 4096
END, FREE, FAT_MARK, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
STORAGE, STREAM, ROOT = 1, 2, 5


def ole_file(streams: Mapping[str, bytes]) -> bytes:
    """A compound file with these streams; "/" in a name separates storages."""
    folders = sorted({path[:i] for path in streams for i, c in enumerate(path) if c == "/"})
    paths = [*folders, *streams]
    small, small_table, big, starts = b"", [], [], {}
    for path, data in streams.items():
        if len(data) < CUTOFF:
            starts[path] = len(small) // SMALL
            small += padded(data, SMALL)
            small_table += chain(len(small_table), units(data, SMALL))
        else:
            big.append(path)
    entries = 1 + len(paths)
    parts = {
        "directory": units(bytes(128 * entries), SECTOR),
        "small table": units(bytes(4 * len(small_table)), SECTOR),
        "small": units(small, SECTOR),
        **{path: units(streams[path], SECTOR) for path in big},
    }
    total = sum(parts.values())
    tables = 1
    while tables * 128 < total + tables:
        tables += 1
    table, begin = [FAT_MARK] * tables, {}
    for name, count in parts.items():
        begin[name] = len(table)
        table += chain(len(table), count)
    table += [FREE] * (tables * 128 - len(table))
    root = (begin["small"] if small else END, len(small))
    directory = _directory(paths, streams, {**starts, **begin}, root)
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6,
        0, tables, begin["directory"], 0, CUTOFF,
        begin["small table"] if small_table else END, parts["small table"], END, 0,
    )  # fmt: skip
    header += struct.pack("<109I", *range(tables), *[FREE] * (109 - tables))
    body = [
        struct.pack(f"<{len(table)}I", *table),
        padded(directory, SECTOR),
        padded(struct.pack(f"<{len(small_table)}I", *small_table), SECTOR, b"\xff"),
        padded(small, SECTOR),
        *(padded(streams[path], SECTOR) for path in big),
    ]
    return header + b"".join(body)


def _directory(
    paths: Sequence[str], streams: Mapping[str, bytes], begin: Mapping[str, int], root: tuple
) -> bytes:
    def first_below(folder: str) -> int:
        below = [i for i, path in enumerate(paths) if parent(path) == folder]
        return below[0] + 1 if below else NONE

    def next_beside(at: int) -> int:
        after = [i for i in range(at + 1, len(paths)) if parent(paths[i]) == parent(paths[at])]
        return after[0] + 1 if after else NONE

    entries = [_entry("Root Entry", ROOT, NONE, first_below(""), *root)]
    for at, path in enumerate(paths):
        name, data = path.rpartition("/")[2], streams.get(path)
        if data is None:
            entries.append(_entry(name, STORAGE, next_beside(at), first_below(path), 0, 0))
        else:
            entries.append(_entry(name, STREAM, next_beside(at), NONE, begin[path], len(data)))
    return b"".join(entries)


def _entry(name: str, kind: int, right: int, below: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le")
    head = raw.ljust(64, b"\0") + struct.pack("<HBB", len(raw) + 2, kind, 1)
    return head + struct.pack("<III36xIQ", NONE, right, below, start, size)


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def padded(data: bytes, size: int, filler: bytes = b"\0") -> bytes:
    return data + filler * (-len(data) % size)


def units(data: bytes, size: int) -> int:
    return -(-len(data) // size)


def chain(start: int, count: int) -> list[int]:
    return [*range(start + 1, start + count), END] if count else []


def msg_file(
    texts: Mapping[str, str],
    *,
    binary: Mapping[str, bytes] | None = None,
    attachments: Sequence[tuple[str, bytes]] = (),
    embedded: Sequence[tuple[str, Mapping[str, str]]] = (),
    fixed: Mapping[int, int] | None = None,
    encoding: str = "",
) -> bytes:
    """An Outlook message.

    Args:
        texts: Text properties by their hexadecimal id.
        binary: Binary properties by their hexadecimal id.
        attachments: Pairs of name and content.
        embedded: Pairs of name and text properties of embedded messages.
        fixed: Numeric properties by id.
        encoding: The code page of 8-bit text properties; if empty, they are Unicode.
    """
    streams = {"__properties_version1.0": bytes(32) + _fixed(fixed or {})}
    streams |= _texts("", texts, encoding)
    streams |= {f"__substg1.0_{key}0102": data for key, data in (binary or {}).items()}
    for at, (name, data) in enumerate(attachments):
        folder = f"__attach_version1.0_#{at:08X}/"
        streams[f"{folder}__properties_version1.0"] = bytes(8)
        streams |= _texts(folder, {"3707": name}, "")
        streams[f"{folder}__substg1.0_37010102"] = data
    for at, (name, below) in enumerate(embedded, start=len(attachments)):
        folder = f"__attach_version1.0_#{at:08X}/"
        streams[f"{folder}__properties_version1.0"] = bytes(8)
        streams |= _texts(folder, {"3001": name}, "")
        streams[f"{folder}__substg1.0_3701000D/__properties_version1.0"] = bytes(24)
        streams |= _texts(f"{folder}__substg1.0_3701000D/", below, "")
    return ole_file(streams)


def _fixed(values: Mapping[int, int]) -> bytes:
    return b"".join(struct.pack("<HHIQ", 3, key, 6, value) for key, value in values.items())


def _texts(folder: str, texts: Mapping[str, str], encoding: str) -> dict[str, bytes]:
    kind = "001E" if encoding else "001F"
    return {
        f"{folder}__substg1.0_{key}{kind}": text.encode(encoding or "utf-16-le")
        for key, text in texts.items()
    }


def record(tag: int, level: int, data: bytes) -> bytes:
    """A record of a Hangul document."""
    size = len(data)
    long = size >= 0xFFF
    head = struct.pack("<I", tag | level << 10 | (0xFFF if long else size) << 20)
    return head + (struct.pack("<I", size) if long else b"") + data


def hwp_paragraph(text: str | bytes, level: int = 0, *, shape: int = 0, style: int = 0) -> bytes:
    """A paragraph's header and its text, which may be given as raw UTF-16 units."""
    raw = text.encode("utf-16-le") if isinstance(text, str) else text
    header = struct.pack("<IIHBB", len(raw) // 2, 0, shape, style, 0)
    return record(66, level, header) + record(67, level + 1, raw + b"\r\0")


def hwp_control(kind: str, level: int) -> bytes:
    return record(71, level, kind.encode()[::-1] + bytes(4))


def hwp_cell(text: str, row: int, column: int, rows: int = 1, columns: int = 1) -> bytes:
    """A cell at level 2, the level of tables in the body."""
    header = struct.pack("<HHIHHHH", 1, 0, 0, column, row, columns, rows)
    return record(72, 2, header) + hwp_paragraph(text, 2)


def hwp_style(name: str) -> bytes:
    raw = name.encode("utf-16-le")
    return record(26, 0, struct.pack("<H", len(name)) + raw + struct.pack("<H", 0))


def hwp_file(
    sections: Sequence[bytes],
    *,
    info: bytes = b"",
    flags: int = 1,
    preview: str = "",
    raw_sections: Sequence[bytes] = (),
) -> bytes:
    """A Hangul document of version 5; each section is its records."""
    header = b"HWP Document File".ljust(32, b"\0") + struct.pack("<II", 0x05000300, flags)
    streams = {"FileHeader": header.ljust(256, b"\0"), "DocInfo": _packed(info, flags)}
    raw = raw_sections or [_packed(section, flags) for section in sections]
    streams |= {f"BodyText/Section{i}": data for i, data in enumerate(raw)}
    if preview:
        streams["PrvText"] = preview.encode("utf-16-le")
    return ole_file(streams)


def _packed(data: bytes, flags: int) -> bytes:
    if not flags & 1:
        return data
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()
