"""Jupyter notebooks as Markdown: text, code with its language, and what the code has printed."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from errors import UnreadableError
from loaders.encoding import decode
from loaders.formats.content import Content, fenced, heading
from loaders.formats.html import to_markdown

_MAX_OUTPUT = 4000  # characters of one output; more is a log, not reading matter
_CUT = "\n[... cut: {count} more characters]"
_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_EMBEDDED = re.compile(r"!\[([^\]\[]{0,500})\]\((?:data|attachment):[^()\s]*\)?")


def read(data: bytes) -> Content:
    """Read a notebook of format 3 or 4; pictures are left out, long outputs are cut."""
    decoded = decode(data)
    try:
        book = json.loads(decoded.text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UnreadableError(f"its JSON is broken at line {error.lineno}: {error.msg}") from error
    cells = _cells(book)
    language = _language(book)
    blocks = [block for cell in cells if isinstance(cell, dict) for block in _cell(cell, language)]
    text = "\n\n".join(block for block in blocks if block.strip())
    return Content(text, _title(book), decoded.encoding, warnings=decoded.warnings)


def _cells(book: Any) -> list[Any]:
    found = book.get("cells") if isinstance(book, dict) else None
    if found is None and isinstance(book, dict) and isinstance(book.get("worksheets"), list):
        sheets = [sheet for sheet in book["worksheets"] if isinstance(sheet, dict)]
        found = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
    if not isinstance(found, list):
        raise UnreadableError("it has no cells, so it is no notebook: save it again in Jupyter")
    return found


def _language(book: Mapping[str, Any]) -> str:
    told = _dict(book.get("metadata"))
    names = _dict(told.get("kernelspec")).get("language"), _dict(told.get("language_info"))
    name = names[0] or names[1].get("name") or "python"
    return name if isinstance(name, str) and re.fullmatch(r"[\w+#-]{1,30}", name) else ""


def _title(book: Mapping[str, Any]) -> str:
    title = _dict(book.get("metadata")).get("title")
    return title if isinstance(title, str) else ""


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input")))
    if kind == "heading":  # format 3
        level = cell.get("level")
        yield heading(level if isinstance(level, int) else 1, source) if source.strip() else ""
    elif kind == "code":
        own = cell.get("language")
        yield fenced(source, own if isinstance(own, str) else language) if source.strip() else ""
        for output in _list(cell.get("outputs")):
            yield _output(_dict(output))
    else:
        yield _EMBEDDED.sub(r"\1", source).strip("\n")


def _output(output: Mapping[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return _fenced(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    found = _dict(output.get("data"), output)  # format 3 has no "data"
    if markdown := _joined(found.get("text/markdown")):
        return _EMBEDDED.sub(r"\1", _cut(markdown))
    if "<table" in (page := _joined(found.get("text/html", found.get("html")))):
        return _cut(to_markdown(page)[0])
    plain = _joined(found.get("text/plain", found.get("text")))
    if plain.startswith(("<Figure", "<matplotlib.", "<IPython.core.display")):
        return ""  # stands for a picture
    return _fenced(plain) if plain.strip() else ""


def _fenced(text: str) -> str:
    return fenced(_cut(_TERMINAL.sub("", text)))


def _cut(text: str) -> str:
    left = len(text) - _MAX_OUTPUT
    return text if left <= 0 else text[:_MAX_OUTPUT] + _CUT.format(count=left)


def _joined(value: Any) -> str:
    """A text, which notebooks keep whole or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else default or {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
