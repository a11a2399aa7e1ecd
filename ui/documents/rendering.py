"""HTML of a document's text: its Markdown, with spans of the text highlighted.

Documents are untrusted: all text is escaped, HTML and pictures in it are not rendered, and only
links to the web work.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import unescape
from itertools import islice, pairwise
from operator import attrgetter
from typing import NamedTuple

from markdown_it.token import Token

from services.library.document_markdown import (
    FRONT_MATTER,
    POSITIONS,
    leaf_positions,
    line_starts,
    normalized,
    parse,
)
from services.library.document_style import Style
from ui.shared.safe_html import escape

Span = tuple[int, int]
"""The start and end of a range of a document's text."""


class Kind(StrEnum):
    """How a span is highlighted; where several overlap, the last of these kinds wins."""

    FAR = "far"
    FOCUS = "focus"
    QUOTE = "quote"
    MATCH = "match"
    CURRENT = "current"


_ORDER = list(Kind)
_MARKS = {
    Kind.FAR: ('<span class="fn-far"><span>', "</span></span>"),
    Kind.FOCUS: ('<span class="fn-focus">', "</span>"),
    Kind.QUOTE: ("<mark>", "</mark>"),
    Kind.MATCH: ('<mark class="fn-match">', "</mark>"),
    Kind.CURRENT: ('<mark class="fn-match fn-current">', "</mark>"),
}


class Highlight(NamedTuple):
    """A span of the text and how to highlight it."""

    start: int
    end: int
    kind: Kind = Kind.QUOTE


_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_WRAPPED = re.compile(r"(?<=[^\n|#]{30})\n(?=[^\W\d_]|[\"'“‘「『（(])")
_PARAGRAPH = re.compile(r"[^\n](?:[^\n]|\n(?![^\S\n]*(?:\n|\Z)))*")
_CJK_BREAK = re.compile(r"(?<=[ぁ-ヿ一-鿿、。])\n[ \t]*(?=[ぁ-ヿ一-鿿])")
_SEPARATOR = re.compile(r"\|[-:| ]*-[-:| ]*(?:\n|\Z)")
_BAR = re.compile(r"(?<!\\)\|")
_TAG = re.compile("<[^>]*>")
_INLINE_TAG = re.compile("</?(?:a|code|del|em|mark|span|strong)(?: [^>]*)?>")
_CELL_END = re.compile("</t[hd]>(?=<t)")
_ROW_END = re.compile("</tr>(?:</thead><tbody>)?(?=<tr)")
_TAGS = {"em": "em", "strong": "strong", "s": "del"}
_ALIGNMENTS = {"text-align:right": "fn-right", "text-align:center": "fn-center"}


def document_html(
    text: str,
    highlights: Sequence[Highlight] = (),
    *,
    style: Style,
    first_heading: int = 2,
    base: int = 0,
) -> str:
    """The text as HTML, with the spans highlighted.

    The id of a heading is `fn-at-` and its position in the text plus `base`. A level-one heading
    becomes `first_heading`; with 0, headings become paragraphs that look like headings. Only a text
    with `base` 0 can have front matter.
    """
    renderer = _Renderer(normalized(text), _flat(highlights), style, first_heading, base)
    return "".join(renderer.html())


def visible_text(text: str, style: Style) -> str:
    """The text without Markdown syntax, on one line."""
    html = _INLINE_TAG.sub("", document_html(table_head(text) + text, style=style))
    html = _ROW_END.sub("; ", _CELL_END.sub(" · ", html))
    line = " ".join(unescape(_TAG.sub(" ", html)).split())
    return line.replace(" ; ", "; ").strip(" ·;")


def table_head(text: str) -> str:
    """An empty table head to put before a text that begins in the middle of a table, else ""."""
    first, _newline, rest = text.partition("\n")
    if not first.startswith("|") or _SEPARATOR.match(rest):
        return ""
    columns = max(len(_BAR.findall(first)) - 1, 1)
    head = "|" + " |" * columns + "\n"
    return head if _SEPARATOR.match(first) else head + "|" + "---|" * columns + "\n"


def _flat(highlights: Sequence[Highlight]) -> list[Highlight]:
    """Disjoint highlights in order, each as long as possible."""
    ends = sorted({end for one in highlights for end in one[:2]})
    begins = sorted(one for one in highlights if one.end > one.start)
    flat: list[Highlight] = []
    open_ones: list[Highlight] = []
    number = 0
    for start, end in pairwise(ends):
        while number < len(begins) and begins[number].start <= start:
            open_ones.append(begins[number])
            number += 1
        open_ones = [one for one in open_ones if one.end > start]
        if not open_ones:
            continue
        kind = max((one.kind for one in open_ones), key=_ORDER.index)
        if flat and flat[-1].end == start and flat[-1].kind == kind:
            start = flat.pop().start
        flat.append(Highlight(start, end, kind))
    return flat


@dataclass
class _Renderer:
    text: str
    highlights: list[Highlight]
    style: Style
    first_heading: int
    base: int
    starts: list[int] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def html(self) -> Iterator[str]:
        if self.style is Style.PLAIN:
            yield from self._plain(0, len(self.text))
            return
        self.starts = line_starts(self.text)
        for token in parse(self.text, self.style, is_start=self.base == 0):
            yield self._block(token)

    def _plain(self, start: int, end: int) -> Iterator[str]:
        for match in _PARAGRAPH.finditer(self.text, start, end):
            if match[0].strip():
                inside = self.mark(match[0].rstrip(), range(*match.span()))
                yield f'<p class="fn-plain"{self._far(*match.span())}>{inside}</p>'

    def _block(self, token: Token) -> str:
        if token.type == "inline":
            return "".join(self._inline(token))
        if token.type == FRONT_MATTER:
            inside = self.mark(token.content, token.meta[POSITIONS])
            return f'<pre class="fn-front">{inside}</pre>'
        if token.type in ("fence", "code_block"):
            inside = self.mark(token.content, token.meta[POSITIONS])
            return f'<pre tabindex="0"{self._far_lines(token)}><code>{inside}</code></pre>'
        if token.type in ("heading_open", "heading_close"):
            return self._heading(token)
        if token.hidden:
            return ""
        if token.type in ("table_open", "table_close"):
            opens = token.nesting > 0
            return '<div class="fn-grid" tabindex="0"><table>' if opens else "</table></div>"
        return self._tag(token)

    def _tag(self, token: Token) -> str:
        if token.nesting < 0:
            return f"</{token.tag}>"
        attributes = ""
        if token.type == "ordered_list_open" and "start" in token.attrs:
            attributes = f' start="{int(token.attrs["start"])}"'
        elif alignment := _ALIGNMENTS.get(str(token.attrs.get("style", ""))):
            attributes = f' class="{alignment}"'
        elif token.type in ("paragraph_open", "list_item_open", "tr_open"):
            attributes = self._far_lines(token)
        return f"<{token.tag}{attributes}>"

    def _heading(self, token: Token) -> str:
        level = int(token.tag[1:])
        shown = f"h{min(level + self.first_heading - 1, 6)}" if self.first_heading else "p"
        if token.nesting < 0:
            return f"</{shown}>"
        if not self.first_heading:
            return f'<p class="fn-h"{self._far_lines(token)}>'
        return f'<{shown} id="fn-at-{self.base + self.starts[(token.map or [0])[0]]}">'

    def _far_lines(self, token: Token) -> str:
        first, end = token.map or (0, 0)
        return self._far(self.starts[first], self.starts[min(end, len(self.starts) - 1)])

    def _far(self, start: int, end: int) -> str:
        """An attribute for a block that is far from the quotes as a whole."""
        text = self.text[start:end]
        start, end = end - len(text.lstrip()), start + len(text.rstrip())
        one = next(self._between(start, end), None)
        is_far = one and one.kind is Kind.FAR and one.start <= start and end <= one.end
        return ' data-far=""' if is_far else ""

    def _inline(self, block: Token) -> Iterator[str]:
        """The content of a block; text up to the next element is marked as a whole."""
        texts, positions = list[str](), list[int]()
        for child in block.children or ():
            places = leaf_positions(child, block.content, block.meta[POSITIONS])
            text = self._text(child, places)
            if text is not None:
                texts.append(text)
                positions += places[: len(text)]
            else:
                yield self.mark("".join(texts), positions)
                texts, positions = [], []
                yield self._element(child, places)
        yield self.mark("".join(texts), positions)

    def _text(self, child: Token, places: Sequence[int]) -> str | None:
        """The text of a token; None if it is an element."""
        if child.type == "softbreak":
            return self._break(places[0] if places else 0)
        return child.content if child.type in ("text", "text_special") else None

    def _element(self, child: Token, positions: Sequence[int]) -> str:
        if child.type.endswith("break"):
            return "<br>"
        if child.type.startswith("link"):
            return self._link(child)
        if tag := _TAGS.get(child.tag):
            return f"<{'/' * (child.nesting < 0)}{tag}>"
        inside = self.mark(child.content, positions)
        if child.type == "code_inline":
            return f"<code>{inside}</code>"
        return f'<span class="fn-picture">{inside}</span>'

    def _break(self, at: int) -> str | None:
        """What a line break in the text becomes; None if it is shown as a line break."""
        if self.style is Style.MARKDOWN:
            return "" if _CJK_BREAK.match(self.text, at) else "\n"
        return "\n" if _WRAPPED.match(self.text, at) else None

    def _link(self, child: Token) -> str:
        if child.nesting > 0:
            address = str(child.attrs.get("href", ""))
            works = _LINK.match(address) is not None
            self.links.append("a" if works else "span")
            if works:
                href = escape(address)
                return f'<a href="{href}" target="_blank" rel="noopener noreferrer">'
            return "<span>"
        return f"</{self.links.pop()}>" if self.links else ""

    def mark(self, text: str, positions: Sequence[int]) -> str:
        """The text, escaped, with its characters at highlighted positions marked."""
        if not text or not positions:
            return escape(text)
        pieces, done = [], 0
        for start, end, kind in self._between(positions[0], positions[-1] + 1):
            first = max(bisect_left(positions, start), done)
            last = min(bisect_left(positions, end), len(text))
            if first < last:
                opening, closing = _MARKS[kind]
                pieces += [escape(text[done:first]), opening, escape(text[first:last]), closing]
                done = last
        return "".join([*pieces, escape(text[done:])])

    def _between(self, start: int, end: int) -> Iterator[Highlight]:
        """The highlights that overlap the range, in order."""
        first = bisect_right(self.highlights, start, key=attrgetter("end"))
        for one in islice(self.highlights, first, None):
            if one.start >= end:
                break
            yield one
