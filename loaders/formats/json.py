"""JSON as text that can be searched: records as a table, everything else as path lines."""

import json
from collections.abc import Iterator
from typing import Any

from errors import UnreadableError
from loaders.encoding import decode
from loaders.formats.content import Content, pipe_table

_TITLE_KEYS = ("title", "name", "subject")
_MAX_COLUMNS = 30
_MAX_DEPTH = 100  # paths are written out: unbounded depth would make the text quadratic


def read(data: bytes) -> Content:
    """Read JSON, or one JSON value a line.

    A list of flat records becomes a pipe table. Elsewhere each value stands on a line behind
    its path (`office.city: Seoul`), and a blank line parts the items of the outermost list.
    """
    decoded = decode(data)
    value = _parse(decoded.text)
    return Content(outline(value), title_of(value), decoded.encoding, warnings=decoded.warnings)


def outline(value: Any) -> str:
    """A value as text: flat records as a table, else lines of path and value.

    Raises:
        UnreadableError: It is nested too deeply.
    """
    table = _table(value)
    return table if table is not None else _outline(value)


def _parse(text: str) -> Any:
    text = text.removeprefix("\ufeff").replace("\0", "")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and error.msg == "Extra data" and error.lineno > 1:
            return [json.loads(line) for line in lines]
        raise UnreadableError(f"the JSON is broken at line {error.lineno}: {error.msg}") from error


def title_of(value: Any) -> str:
    """The document's title where the value names one; else empty."""
    if not isinstance(value, dict):
        return ""
    return next((value[key] for key in _TITLE_KEYS if isinstance(value.get(key), str)), "")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_flat(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _table(value: Any) -> str | None:
    """A list of two records or more without anything nested, as a table; None for all else."""
    if not isinstance(value, list) or len(value) < 2:
        return None
    if not all(isinstance(row, dict) and all(map(_is_flat, row.values())) for row in value):
        return None
    keys = list(dict.fromkeys(key for row in value for key in row))
    if not 0 < len(keys) <= _MAX_COLUMNS:
        return None
    rows = (["" if row.get(key) is None else _scalar(row[key]) for key in keys] for row in value)
    return pipe_table((keys, *rows))


def _outline(value: Any) -> str:
    if isinstance(value, list):
        return "\n\n".join("\n".join(_lines(item, "", 0)) for item in value)
    return "\n".join(_lines(value, "", 0))


def _lines(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise UnreadableError(f"it is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and not all(map(_is_flat, value)):
        for number, item in enumerate(value):
            yield from _lines(item, f"{path}[{number}]", depth + 1)
    else:
        yield _line(value, path)


def _line(value: Any, path: str) -> str:
    text = ", ".join(map(_scalar, value)) if isinstance(value, list) else _scalar(value)
    if not path:
        return text
    return f"{path}:\n\n{text}\n" if "\n" in text.strip() else f"{path}: {text}"
