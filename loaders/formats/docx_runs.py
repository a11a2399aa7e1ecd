"""The text of Word paragraphs, and the order of what stands in a body, cell or box."""

from collections.abc import Iterator
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_BLOCKS = (W + "p", W + "tbl")
_WRAPPERS = frozenset({W + "sdt", W + "sdtContent", W + "customXml", W + "ins", W + "moveTo"})
# Not shown, shown elsewhere, or said twice: the older copy of a drawing, the reading above kanji.
_NOT_TEXT = frozenset(
    {_MC + "Fallback", W + "del", W + "moveFrom", W + "rt", W + "txbxContent", W + "pPr", W + "rPr"}
)
_MARKS = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
}


def content_blocks(parent: Any, *tags: str) -> Iterator[Any]:
    """The children with one of the tags, paragraphs and tables by default, in order.

    Content controls and tracked insertions are looked into, as if they were not there.
    """
    wanted = tags or _BLOCKS
    stack = [parent.iterchildren()]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif child.tag in wanted:
            yield child
        elif child.tag in _WRAPPERS:
            stack.append(child.iterchildren())


def paragraph_text(paragraph: Any) -> str:
    """The paragraph's own text, without that of boxes anchored in it."""
    parts: list[str] = []
    for element in _shown(paragraph):
        if element.tag == W + "t":
            parts.append(element.text or "")
        elif element.tag == W + "br" and element.get(W + "type") in ("page", "column"):
            continue
        else:
            parts.append(_MARKS.get(element.tag, ""))
    return "".join(parts)


def _shown(paragraph: Any) -> Iterator[Any]:
    stack = [paragraph.iterchildren()]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif child.tag not in _NOT_TEXT and isinstance(child.tag, str):
            yield child
            stack.append(child.iterchildren())


def boxes(paragraph: Any) -> Iterator[Any]:
    """The text boxes anchored in the paragraph, each once, though files hold two copies."""
    for box in paragraph.iter(W + "txbxContent"):
        if next(box.iterancestors(_MC + "Fallback", W + "txbxContent"), None) is None:
            yield box


def note_ids(paragraph: Any) -> Iterator[tuple[str, str]]:
    """The notes referred to, as ("footnote" or "endnote", id)."""
    for kind in ("footnote", "endnote"):
        for reference in paragraph.iter(f"{W}{kind}Reference"):
            yield kind, reference.get(W + "id")
