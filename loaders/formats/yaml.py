"""YAML as text that can be searched, laid out as JSON is."""

from collections.abc import Iterator
from typing import Any

import yaml  # type: ignore[import-untyped]  # it has no types

from errors import UnreadableError
from loaders.encoding import decode
from loaders.formats.content import Content
from loaders.formats.json import outline, title_of

_MAX_DEPTH = 100
_MAX_VALUES = 1_000_000  # counted as often as anchors repeat them
_TAG = "tag:yaml.org,2002:"


def read(data: bytes) -> Content:
    """Read every document of the file, values as they are written, unknown tags ignored.

    Several documents are parted by a blank line; the title is that of the first.
    """
    decoded = decode(data)
    text = decoded.text.removeprefix("\ufeff")
    try:
        values = list(_documents(text))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UnreadableError(f"the YAML is broken at line {line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise UnreadableError(
            "it is not YAML: it holds a character that YAML does not allow"
        ) from error
    outlines = "\n\n".join(outline(value) for value in values if value is not None)
    title = title_of(values[0]) if values else ""
    return Content(outlines, title, decoded.encoding, warnings=decoded.warnings)


def _documents(text: str) -> Iterator[Any]:
    # The parser in C, where there is one: the other takes a minute for ten megabytes.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_depth(yaml.parse(text, Loader=loader))
    values = _Values()
    for node in yaml.compose_all(text, Loader=loader):
        yield values.of(node)


def _check_depth(events: Any) -> None:
    """Refuse what composing, which calls itself for each level, could not hold."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise UnreadableError(f"it is nested more than {_MAX_DEPTH} levels deep")


class _Values:
    """Turns nodes into plain values and counts them: anchors can make billions of a few."""

    def __init__(self) -> None:
        self._count = 0

    def of(self, node: Any, depth: int = 0) -> Any:
        self._count += 1
        if self._count > _MAX_VALUES or depth > _MAX_DEPTH:
            raise UnreadableError("its anchors repeat more than can be read safely: write them out")
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, depth))
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, depth + 1) for item in node.value]
        return None if node.tag == _TAG + "null" else node.value

    def _pairs(self, node: Any, depth: int) -> Iterator[tuple[str, Any]]:
        merged = [value for key, value in node.value if key.tag == _TAG + "merge"]
        for value in merged:
            # Earlier ones win, so later ones come first; what is no mapping merges nothing.
            several = isinstance(value, yaml.SequenceNode)
            for source in reversed(value.value) if several else (value,):
                found = self.of(source, depth + 1)
                yield from found.items() if isinstance(found, dict) else ()
        for key, value in node.value:
            if key.tag != _TAG + "merge":
                yield self._key(key, depth), self.of(value, depth + 1)

    def _key(self, node: Any, depth: int) -> str:
        return str(node.value) if isinstance(node, yaml.ScalarNode) else str(self.of(node, depth))
