"""HTML as Markdown: what a person reads on the page, without scripts, styles and navigation."""

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from loaders.encoding import declared_encoding, decode
from loaders.formats.content import Content, clean, one_line, single_spaced

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_NOISE = frozenset({
    "head", "script", "style", "noscript", "template", "nav", "svg", "iframe", "object", "canvas",
    "select", "datalist", "button", "input", "textarea", "audio", "video", "map",
})  # fmt: skip
_NOISE_ROLES = ("navigation", "search", "menu", "menubar", "toolbar")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*>")
_TABLE_PARTS = ["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"]
_TOO_DEEP = "tags are nested too deeply: headings, lists and tables were read as plain text"


def read(data: bytes) -> Content:
    """Read a page: its title, and its text as Markdown under that title.

    The encoding is the byte order mark's, the one the page declares, or the likeliest.
    """
    decoded = decode(data, declared=declared_encoding(data))
    text, title, warnings = to_markdown(decoded.text)
    return Content(text, title, decoded.encoding, warnings=(*decoded.warnings, *warnings))


def to_markdown(html: str) -> tuple[str, str, tuple[str, ...]]:
    """Turn a page into its Markdown, its title and warnings.

    Links and emphasis leave their words only: a quote of the page must read as the page does.
    """
    soup = _parse(html)
    title = one_line(soup.title.get_text()) if soup.title else ""
    _drop_noise(soup)
    _unwrap_layout_tables(soup)
    warnings: tuple[str, ...] = ()
    try:
        from loaders.formats.html_markdown import PageConverter  # imports markdownify

        text = PageConverter.of_page().convert_soup(soup)
    except RecursionError:
        text, warnings = single_spaced(soup.get_text("\n")), (_TOO_DEEP,)
    text = clean(text)
    if title and text and not soup.find("h1"):
        text = f"# {title}\n\n{text}"
    return text, title, warnings


def _parse(html: str) -> "BeautifulSoup":
    from bs4 import BeautifulSoup

    # lxml closes what authors leave open (<p>, <li>, <td>), which html.parser nests instead.
    page = _XML_DECLARATION.sub("", clean(html))
    return BeautifulSoup(f"<!DOCTYPE html>{page}", "lxml")


def _drop_noise(soup: "BeautifulSoup") -> None:
    from bs4 import Tag

    # One walk with plain comparisons: bs4's own searches take most of the time on large pages.
    for tag in [node for node in soup.descendants if isinstance(node, Tag) and _is_noise(node)]:
        if not tag.decomposed:
            tag.decompose()


def _is_noise(tag: "Tag") -> bool:
    if tag.name in _NOISE or "hidden" in tag.attrs or tag.attrs.get("role") in _NOISE_ROLES:
        return True
    return "style" in tag.attrs and _HIDDEN_STYLE.search(str(tag.attrs["style"])) is not None


def _unwrap_layout_tables(soup: "BeautifulSoup") -> None:
    """Make blocks of tables that only lay out a page: those around tables, and of one column."""
    outer = {id(table.find_parent("table")) for table in soup.find_all("table")}
    parts: dict[int, list[Tag]] = defaultdict(list)
    cells: Counter[tuple[int, int]] = Counter()
    for part in soup.find_all(_TABLE_PARTS):
        table = id(part if part.name == "table" else part.find_parent("table"))
        parts[table].append(part)
        if part.name in ("td", "th"):
            cells[table, id(part.parent)] += 1
    wide = {table for (table, _), count in cells.items() if count > 1}
    for table in parts.keys() & (outer | (parts.keys() - wide)):
        for part in parts[table]:
            part.name = "div"
