"""Reads plain text and Markdown unchanged, and Jupyter notebooks as Markdown."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import decode
from loaders.formats.content import Content, fenced, heading, one_line
from loaders.formats.html import to_markdown

_MAX_OUTPUT = 4000  # characters per output; a longer one is a log
_CUT = "\n[... cut: {count} more characters]"
_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_EMBEDDED = re.compile(r"!\[([^\]\[]{0,500})\]\((?:data|attachment):[^()\s]*\)?")


def read_notebook(data: bytes) -> Content:
    """Read a notebook of format 3 or 4; pictures are omitted, long outputs are truncated."""
    decoded = decode(data)
    try:
        book = json.loads(decoded.text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UnreadableError(
            _("its JSON is invalid at line {lineno}: {msg}").format(
                lineno=error.lineno, msg=error.msg
            )
        ) from error
    cells = _cells(book)
    language = _language(book)
    blocks = [block for cell in cells if isinstance(cell, dict) for block in _cell(cell, language)]
    text = "\n\n".join(block for block in blocks if block.strip())
    return Content(text, _notebook_title(book), decoded.encoding, warnings=decoded.warnings)


def _cells(book: Any) -> list[Any]:
    cells = book.get("cells") if isinstance(book, dict) else None
    if cells is None and isinstance(book, dict) and isinstance(book.get("worksheets"), list):
        sheets = [sheet for sheet in book["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise UnreadableError(
            _("it has no cells, so it is not a notebook: save it again in Jupyter")
        )
    return cells


def _language(book: Mapping[str, Any]) -> str:
    metadata = _dict(book.get("metadata"))
    names = _dict(metadata.get("kernelspec")).get("language"), _dict(metadata.get("language_info"))
    name = names[0] or names[1].get("name") or "python"
    return name if isinstance(name, str) and re.fullmatch(r"[\w+#-]{1,30}", name) else ""


def _notebook_title(book: Mapping[str, Any]) -> str:
    title = _dict(book.get("metadata")).get("title")
    return title if isinstance(title, str) else ""


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _join(cell.get("source", cell.get("input")))
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
        return _fence(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    content = _dict(output.get("data"), output)  # format 3 has no "data"
    if markdown := _join(content.get("text/markdown")):
        return _EMBEDDED.sub(r"\1", _cut(markdown))
    if "<table" in (page := _join(content.get("text/html", content.get("html")))):
        return _cut(to_markdown(page)[0])
    plain = _join(content.get("text/plain", content.get("text")))
    if plain.startswith(("<Figure", "<matplotlib.", "<IPython.core.display")):
        return ""  # placeholder of a picture
    return _fence(plain) if plain.strip() else ""


def _fence(text: str) -> str:
    return fenced(_cut(_TERMINAL.sub("", text)))


def _cut(text: str) -> str:
    omitted = len(text) - _MAX_OUTPUT
    return text if omitted <= 0 else text[:_MAX_OUTPUT] + _CUT.format(count=omitted)


def _join(value: Any) -> str:
    """The text, which notebooks store as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any, default: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else default or {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_FRONT_TITLE = re.compile(r"\A---\n(?:.*\n){0,50}?title:[ \t]*(.+)\n", re.IGNORECASE)


def read_text(data: bytes) -> Content:
    """Read text or Markdown; the title is from the front matter."""
    decoded = decode(data)
    return Content(
        decoded.text,
        title=_front_matter_title(decoded.text[:20_000].replace("\r\n", "\n")),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _front_matter_title(text: str) -> str:
    match = _FRONT_TITLE.match(text)
    return one_line(match[1]).strip("\"'") if match else ""
