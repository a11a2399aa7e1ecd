"""A small file of each format, to be damaged."""

import io
import json
from collections.abc import Callable, Mapping
from functools import cache

from loaders.formats import SUFFIXES, unsupported
from tests.loaders.formats.files import docx_file, html_page, pdf_file, pptx_file, xlsx_file
from tests.loaders.formats.pictures import scan
from tests.loaders.formats.test_damage import FILES
from tests.loaders.formats.test_legacy_office import legacy_file

STORAGE = ".storage"
"""Pages of Confluence, which are read by their own operation."""
SLOW = frozenset(
    (".doc", ".ppt", ".xls", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif")
)
"""Formats that another program reads, in seconds for each file."""

_TABLE = (
    "<table><tr><th rowspan='2'>a</th><td colspan='3'>b</td></tr><tr><td>c<br/>d</td></tr></table>"
)
_HTML = (
    f"<h1 id='t'>휴가 규정</h1><p>25 days of <b>annual</b> <a href='b.html'>leave</a>.</p>{_TABLE}"
    "<ul><li>one<ol><li>two</li></ol></li></ul><pre><code>x = 1</code></pre>"
    "<img src='data:image/png;base64,iVBORw0KGgo=' alt='p'><details><summary>s</summary>d</details>"
)
_STORAGE = (
    f"<h1>休暇</h1><p>Text <ac:link><ri:page ri:content-title='B'/></ac:link></p>{_TABLE}"
    "<ac:structured-macro ac:name='code'><ac:parameter ac:name='language'>py</ac:parameter>"
    "<ac:plain-text-body><![CDATA[x = 1]]></ac:plain-text-body></ac:structured-macro>"
    "<ac:task-list><ac:task><ac:task-status>complete</ac:task-status>"
    "<ac:task-body>done</ac:task-body></ac:task></ac:task-list>"
    "<ac:image><ri:attachment ri:filename='a.png'/></ac:image>"
)
_TEXT = "# Leave\n\n25 days, 연차 15일, 休暇\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx\n```\n"
_DATA = {"a": [1, 2.5, None, {"b": "휴가"}], "c": {"d": [[["e"]]]}, "f": "x" * 40}


def _document(document) -> None:
    document.add_heading("휴가 규정", 1)
    document.add_paragraph("25 days", style="List Bullet")
    table = document.add_table(2, 2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "merged"
    document.add_paragraph("end").add_run(" bold").bold = True


def _picture(kind: str) -> Callable[[], bytes]:
    def drawn() -> bytes:
        out = io.BytesIO()
        picture = scan(["Employees get 15 days."], width=1100, height=280)
        picture.convert("P" if kind == "gif" else "L").save(out, kind)
        return out.getvalue()

    return drawn


def _legacy(build: Callable[[], bytes], kind: str) -> Callable[[], bytes]:
    return lambda: legacy_file(build(), kind)


_BUILD: Mapping[str, Callable[[], bytes]] = {
    ".txt": lambda: _TEXT.encode(),
    ".md": lambda: _TEXT.encode(),
    ".html": lambda: html_page(_HTML, head="<meta charset='utf-8'><title>휴가</title>"),
    ".pdf": lambda: pdf_file(["# Leave\n\n25 days", "연차 15일\n休暇"], title="t"),
    ".docx": lambda: docx_file(_document),
    ".pptx": pptx_file,
    ".xlsx": lambda: xlsx_file({"휴가": [["a", "b"], [1, 2.5], ["=A1", None]], "B": [["x"]]}),
    ".csv": lambda: 'name,days\n김,15\n"a\nb","2"\n'.encode("utf-8-sig"),
    ".json": lambda: json.dumps(_DATA, ensure_ascii=False).encode(),
    STORAGE: lambda: _STORAGE.encode(),
    ".doc": _legacy(lambda: docx_file(_document), "doc"),
    ".ppt": _legacy(pptx_file, "ppt"),
    ".xls": _legacy(xlsx_file, "xls"),
    ".png": _picture("png"),
    ".jpg": _picture("jpeg"),
    ".tif": _picture("tiff"),
    ".webp": _picture("webp"),
    ".bmp": _picture("bmp"),
    ".gif": _picture("gif"),
}
_SAME = {".markdown", ".htm", ".yml", ".jpeg", ".tiff"}
"""Other names of formats in this list."""


@cache
def seed_of(suffix: str) -> bytes:
    """The undamaged file of a format."""
    build = _BUILD.get(suffix)
    return build() if build else FILES[f"a{suffix}"]


def formats(*, slow: bool = True) -> list[str]:
    """The suffixes of all formats that can be read on this machine, and `STORAGE`."""
    readable = [one for one in SUFFIXES if one not in _SAME and not unsupported(f"a{one}")]
    return [one for one in (*readable, STORAGE) if slow or one not in SLOW]
