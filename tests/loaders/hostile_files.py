"""Files that take minutes, gigabytes, or endless text to read, although they are small."""

import io
import zlib
from collections.abc import Sequence

MIB = 2**20


def pdf_with_shared_stream(pages: int = 2_000, stream_bytes: int = 2 * MIB) -> bytes:
    """Every page has the same large content, which compresses well."""
    show = b"BT /F1 12 Tf (a) Tj ET\n"
    content = zlib.compress(show * (stream_bytes // len(show)), 9)
    kids = b" ".join(b"%d 0 R" % (5 + page) for page in range(pages))
    tree = b"<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 600 800]" % (pages, kids)
    page = b"<</Type/Page/Parent 2 0 R/Contents 3 0 R>>"
    return _pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            tree + b"/Resources<</Font<</F1 4 0 R>>>>>>",
            b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(content), content),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            *[page] * pages,
        ]
    )


def _pdf(objects: Sequence[bytes]) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj" % number + body + b"endobj\n")
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    out.write(trailer % (len(objects) + 1, table))
    return out.getvalue()


def html_with_spans(cells: int = 4_800) -> bytes:
    """Each cell of the first row covers 200 columns and all 200 rows."""
    return b"<table><tr>" + b"<td rowspan=200 colspan=200>w" * cells + b"<tr><td>w" * 199


def html_with_nested_tags(mebibytes: float = 20) -> bytes:
    """Elements that are never closed."""
    return b"<div>" * int(mebibytes * MIB / 5) + b"text"


def xml_with_elements(mebibytes: float = 28) -> bytes:
    """Millions of short elements."""
    return b"<a>" + b"<b>x</b>" * int(mebibytes * MIB / 8) + b"</a>"


def json_with_lists(mebibytes: float = 28) -> bytes:
    """Millions of short lists."""
    return b"[" + b"[1,{}]," * int(mebibytes * MIB / 7) + b"1]"
