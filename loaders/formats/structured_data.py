"""Reads JSON, YAML, and CSV as text: records as a table, everything else as lines with paths."""

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import decode
from loaders.formats.content import Content, pipe_table

_DELIMITERS = ",;\t|"
_SNIFFED_ROWS = 50
_SNIFFED_CHARS = 100_000


def read_delimited(data: bytes) -> Content:
    """Read rows, the first as the header; ragged rows keep their lengths."""
    decoded = decode(data)
    text = decoded.text.removeprefix("\ufeff").replace("\0", "")
    # A cell may contain long text; the module's limit (128 KiB) can only be changed globally.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
    return Content(pipe_table(rows), encoding=decoded.encoding, warnings=decoded.warnings)


def delimiter_of(text: str) -> str:
    """The delimiter that most often splits the first rows into the same number of cells."""
    sample = text[:_SNIFFED_CHARS]
    return max(_DELIMITERS, key=lambda delimiter: _consistency(sample, delimiter))


def _consistency(sample: str, delimiter: str) -> tuple[float, int]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    rows = [row for row, _ in zip(reader, range(_SNIFFED_ROWS), strict=False) if row]
    widths = Counter(map(len, rows))
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    if width == 1:
        return 0.0, 0
    # A quotation mark inside a cell means that cells were split in the wrong places.
    torn = sum(any('"' in text for text in row) for row in rows)
    return (count - torn / 2) / len(rows), width


_TITLE_KEYS = ("title", "name", "subject")
_MAX_COLUMNS = 30
_MAX_DEPTH = 100  # paths are written in full: unlimited depth would make the text quadratic


def read_json(data: bytes) -> Content:
    """Read JSON, or one JSON value per line.

    A list of flat records becomes a pipe table. Otherwise, each value is on a line after its path
    (`office.city: Seoul`), and blank lines separate the items of the outermost list.
    """
    decoded = decode(data)
    value = _parse(decoded.text)
    return Content(outline(value), title_of(value), decoded.encoding, warnings=decoded.warnings)


def outline(value: Any) -> str:
    """Format a value as text: flat records as a table, everything else as lines of path and value.

    Raises:
        UnreadableError: The value is nested too deeply.
    """
    table = _records_table(value)
    return table if table is not None else _outline(value)


def _parse(text: str) -> Any:
    text = text.removeprefix("\ufeff").replace("\0", "")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and error.msg == "Extra data" and error.lineno > 1:
            return [json.loads(line) for line in lines]
        raise UnreadableError(
            _("the JSON is invalid at line {lineno}: {msg}").format(
                lineno=error.lineno, msg=error.msg
            )
        ) from error


def title_of(value: Any) -> str:
    """The document's title if the value contains one; otherwise empty."""
    if not isinstance(value, dict):
        return ""
    return next((value[key] for key in _TITLE_KEYS if isinstance(value.get(key), str)), "")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_flat(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _records_table(value: Any) -> str | None:
    """Format a list of at least two flat records as a table; None for any other value."""
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
        return "\n\n".join("\n".join(_path_lines(item, "", 0)) for item in value)
    return "\n".join(_path_lines(value, "", 0))


def _path_lines(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise UnreadableError(
            _("it is nested more than {max_depth} levels deep").format(max_depth=_MAX_DEPTH)
        )
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _path_lines(item, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and not all(map(_is_flat, value)):
        for number, item in enumerate(value):
            yield from _path_lines(item, f"{path}[{number}]", depth + 1)
    else:
        yield _path_line(value, path)


def _path_line(value: Any, path: str) -> str:
    text = ", ".join(map(_scalar, value)) if isinstance(value, list) else _scalar(value)
    if not path:
        return text
    return f"{path}:\n\n{text}\n" if "\n" in text.strip() else f"{path}: {text}"


_MAX_VALUES = 1_000_000  # including repetitions by anchors
_TAG = "tag:yaml.org,2002:"


def read_yaml(data: bytes) -> Content:
    """Read every document in the file, with values as written; unknown tags are ignored.

    Blank lines separate documents; the title is that of the first.
    """
    decoded = decode(data)
    text = decoded.text.removeprefix("\ufeff")
    try:
        values = list(_documents(text))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UnreadableError(
            _("the YAML is invalid at line {line}: {problem}").format(
                line=line, problem=error.problem
            )
        ) from error
    except yaml.YAMLError as error:
        raise UnreadableError(
            _("it is not YAML: it contains a character that YAML does not allow")
        ) from error
    outlines = "\n\n".join(outline(value) for value in values if value is not None)
    title = title_of(values[0]) if values else ""
    return Content(outlines, title, decoded.encoding, warnings=decoded.warnings)


def _documents(text: str) -> Iterator[Any]:
    # The parser in C if available: the one in Python takes a minute for ten megabytes.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_depth(yaml.parse(text, Loader=loader))
    values = _Values()
    for node in yaml.compose_all(text, Loader=loader):
        yield values.of(node)


def _check_depth(events: Any) -> None:
    """Reject YAML that is nested too deeply to compose, which recurses for each level."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise UnreadableError(
                _("it is nested more than {max_depth} levels deep").format(max_depth=_MAX_DEPTH)
            )


class _Values:
    """Converts nodes to plain values and counts them: anchors can turn a few into billions."""

    def __init__(self) -> None:
        self._count = 0

    def of(self, node: Any, depth: int = 0) -> Any:
        self._count += 1
        if self._count > _MAX_VALUES or depth > _MAX_DEPTH:
            raise UnreadableError(
                _("its anchors expand to more than can be read safely: write out the values")
            )
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, depth))
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, depth + 1) for item in node.value]
        return None if node.tag == _TAG + "null" else node.value

    def _pairs(self, node: Any, depth: int) -> Iterator[tuple[str, Any]]:
        merged = [value for key, value in node.value if key.tag == _TAG + "merge"]
        for value in merged:
            # Earlier mappings take precedence, so later ones come first; other values are ignored.
            several = isinstance(value, yaml.SequenceNode)
            for source in reversed(value.value) if several else (value,):
                mapping = self.of(source, depth + 1)
                yield from mapping.items() if isinstance(mapping, dict) else ()
        for key, value in node.value:
            if key.tag != _TAG + "merge":
                yield self._key(key, depth), self.of(value, depth + 1)

    def _key(self, node: Any, depth: int) -> str:
        return str(node.value) if isinstance(node, yaml.ScalarNode) else str(self.of(node, depth))
