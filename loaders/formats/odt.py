"""OpenDocument texts as Markdown: headings, lists, tables and notes in their order."""

from collections.abc import Iterator
from typing import Any

from loaders.formats.content import Content, fenced, heading, one_line
from loaders.formats.markup import attribute, child, local, number, outermost
from loaders.formats.odf import Package, flat, paragraph_text, table

_SECTIONS = frozenset({"section", "index-body", "numbered-paragraph", "page-sequence", "page"})
_CODE = "Preformatted Text"


def read(data: bytes) -> Content:
    """Read a document; notes follow their paragraph as a quotation, so that they share its passage.

    Deleted text of tracked changes, comments and tables of contents are left out.
    """
    package = Package(data, ".odt")
    return Content(_Body(package).markdown(), package.title)


class _Body:
    """One document's walk."""

    def __init__(self, package: Package) -> None:
        self._package = package

    def markdown(self) -> str:
        blocks: list[str] = []
        code: list[str] = []
        after_item = False
        for kind, text in [*self._blocks(self._package.body), ("", "")]:
            if kind != "code" and code:
                blocks.append("\n\n" + fenced("\n".join(code)))
                code.clear()
            if kind == "code":
                code.append(text)
            elif text.strip():
                is_item = kind == "item"
                blocks.append(("\n" if is_item and after_item else "\n\n") + text)
                after_item = is_item
        return "".join(blocks)

    def _blocks(self, parent: Any) -> Iterator[tuple[str, str]]:
        """Each block as (kind, text); the kind is "code", "item" or empty."""
        for element in parent:
            name = local(element)
            if name in ("p", "h"):
                yield self._paragraph(element)
                yield from self._extras(element)
            elif name == "list":
                yield from self._list(element, 0, attribute(element, "style-name"))
            elif name == "table":
                yield "", table(element)
            elif name in _SECTIONS:
                yield from self._blocks(element)
            elif name in ("frame", "text-box"):
                yield from self._frame(element)

    def _paragraph(self, element: Any) -> tuple[str, str]:
        text = paragraph_text(element)
        styles = list(self._package.style_names(element))
        if local(element) == "h" or "Title" in styles:
            level = number(element, "outline-level") if local(element) == "h" else 1
            return "", heading(level, text) if text.strip() else ""
        return ("code", text) if _CODE in styles else ("", text.strip())

    def _extras(self, paragraph: Any) -> Iterator[tuple[str, str]]:
        """The notes of a paragraph, and the text boxes and pictures anchored in it."""
        for node in outermost(paragraph, ("note", "frame")):
            if local(node) == "frame":
                yield from self._frame(node)
            elif (body := child(node, "note-body")) is not None:
                yield "", f"> {one_line(flat(body))}"

    def _frame(self, frame: Any) -> Iterator[tuple[str, str]]:
        for node in frame:
            if local(node) == "text-box":
                yield from self._blocks(node)
            elif local(node) in ("title", "desc"):  # what a picture says to those who don't see it
                yield "", one_line("".join(node.itertext()))

    def _list(self, element: Any, depth: int, style: str) -> Iterator[tuple[str, str]]:
        count = 0
        for item in element:
            if local(item) not in ("list-item", "list-header"):
                continue
            first = True
            for node in item:
                if local(node) == "list":
                    own = attribute(node, "style-name") or style
                    yield from self._list(node, depth + 1, own)
                elif local(node) == "h":
                    yield self._paragraph(node)
                elif local(node) == "p" and (text := one_line(paragraph_text(node))):
                    count += first and local(item) == "list-item"
                    yield "item", self._item(text, depth, style, count if first else 0)
                    yield from self._extras(node)
                    first = False

    def _item(self, text: str, depth: int, style: str, count: int) -> str:
        """An item's line; further paragraphs of an item, of count 0, stand below its first."""
        mark = f"{count}." if self._package.is_numbered(style, depth) else "-"
        return f"{'  ' * depth}{mark if count else '  '} {text}"
