"""The Markdown converter for pages: markdownify with tables, lists and code read our way."""

import re

from bs4 import Tag
from bs4.element import PageElement
from markdownify import ATX, MarkdownConverter

from loaders.formats.content import fenced, heading, one_line, pipe_table, without_empty_columns

_LANGUAGE = re.compile(r"(?:lang(?:uage)?-|brush:\s*)([\w+#-]+)")
_LANGUAGE_ATTRIBUTES = ("data-syntaxhighlighter-params",)
_CJK = r"[\u3001-\u30ff\u3400-\u9fff\uff01-\uff60]"
_CJK_BREAK = re.compile(rf"(?<={_CJK})[ \t]*\n[ \t]*(?={_CJK})")
_SPACES = re.compile(r"[ \t\n\xa0]+")
# White space that means something, in code and before list items, while all other collapses.
_KEPT_SPACE, _KEPT_LINE = "\x02", "\x03"
_INVISIBLE = re.compile(r"^ +| +$|(?<= ) +", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_MAX_SPAN = 200


class PageConverter(MarkdownConverter):
    """markdownify's walk with linear lists and whole tables."""

    @classmethod
    def of_page(cls) -> "PageConverter":
        """A converter whose text holds no escapes and no emphasis marks."""
        return cls(
            heading_style=ATX,
            bullets="-",
            escape_asterisks=False,
            escape_underscores=False,
            strip=["a", "b", "strong", "em", "i", "u", "s", "del", "q"],
        )

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        """Convert an element; a table is converted whole, for its spans concern other cells."""
        if node.name == "table" and "_inline" not in (parent_tags or ()):
            return self._table(node, set(parent_tags or ()))
        return str(super().process_tag(node, parent_tags=parent_tags))  # type: ignore[misc]  # absent from its stubs

    def process_text(self, el: PageElement, parent_tags: set[str] | None = None) -> str:
        """A run of text; outside <pre> a line break in the source is a space, or nothing in CJK."""
        text = str(super().process_text(el, parent_tags=parent_tags))  # type: ignore[misc]  # absent from its stubs
        if "pre" in (parent_tags or ()):
            return text
        return _SPACES.sub(" ", _CJK_BREAK.sub("", text))

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """A heading, unless it is empty."""
        if "_inline" in parent_tags or not text.strip():
            return text
        return f"\n\n{heading(n, text)}\n\n"

    def _table(self, table: Tag, parent_tags: set[str]) -> str:
        caption = table.find("caption")
        below: dict[int, tuple[int, str]] = {}  # column -> rows that a cell above still covers
        tags = parent_tags | {"table", "tr"}
        rows = [self._row(row, below, tags) for row in table.find_all("tr")]
        title = f"{one_line(caption.get_text())}\n\n" if caption else ""
        text = pipe_table(without_empty_columns(rows)).replace(" ", _KEPT_SPACE)
        return f"\n\n{title}{text}\n\n"

    def _row(self, row: Tag, below: dict[int, tuple[int, str]], tags: set[str]) -> list[str]:
        """The row's cells; one that spans rows is repeated, so that each row says it all."""
        texts: list[str] = []
        for cell in row.find_all(["td", "th"]):
            _take_covered(below, texts)
            text = one_line(self.process_tag(cell, parent_tags=tags))
            rows, columns = _span(cell, "rowspan"), _span(cell, "colspan")
            for offset in range(columns):
                shown = text if offset == 0 else ""
                if rows > 1:
                    below[len(texts)] = (rows - 1, shown)
                texts.append(shown)
        _take_covered(below, texts)
        return texts

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """A cell's bare text: `_row` sets it between its bars."""
        return text

    convert_th = convert_td

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """A list item, its further lines indented below its first."""
        lines = text.strip().split("\n")
        mark = f"{_number(el)}." if el.parent is not None and el.parent.name == "ol" else "-"
        indent = "\n" + _KEPT_SPACE * (len(mark) + 1)
        body = indent.join(lines).replace(indent + "\n", "\n\n")
        return f"{mark} {body}\n" if text.strip() else "\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """A code block, named by the language its class tells."""
        if not text.strip():
            return ""
        lines = fenced(text, _language(el)).replace(" ", _KEPT_SPACE).split("\n")
        return "\n\n" + "\n".join(line or _KEPT_LINE for line in lines) + "\n\n"

    def convert__document_(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """The page, rid of the white space that a browser would not show either."""
        text = _BLANK_LINES.sub("\n\n", _INVISIBLE.sub("", text))
        return text.replace(_KEPT_SPACE, " ").replace(_KEPT_LINE, "").strip("\n")

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """What the picture says to those who don't see it."""
        return one_line(str(el.get("alt") or ""))

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """A line of its own, or a space within a cell or heading."""
        return " " if "_inline" in parent_tags else "\n"


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() and len(value) < 9 else 1


def _take_covered(below: dict[int, tuple[int, str]], texts: list[str]) -> None:
    while (column := len(texts)) in below:
        rows, text = below.pop(column)
        texts.append(text)
        if rows > 1:
            below[column] = (rows - 1, text)


def _number(item: Tag) -> int:
    """The item's number, counted on from its predecessor's: linear, however long the list."""
    previous = item.find_previous_sibling("li")
    if previous is not None:
        number = int(str(previous.get("data-footnote-number") or 0)) + 1
    else:
        start = str(item.parent.get("start") or "1") if item.parent is not None else "1"
        number = int(start) if start.isdecimal() and len(start) < 9 else 1
    item["data-footnote-number"] = str(number)
    return number


def _language(block: Tag) -> str:
    tags = [block, *block.find_all("code", limit=1)]
    hints = [str(tag.get(name) or "") for tag in tags for name in _LANGUAGE_ATTRIBUTES]
    hints += [" ".join(tag.get_attribute_list("class")) for tag in tags if tag.get("class")]
    match = next(filter(None, map(_LANGUAGE.search, hints)), None)
    return match[1] if match else ""
