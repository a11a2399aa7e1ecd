"""Reads HTML pages, and EPUB books made of them, as Markdown without scripts and navigation.

The parts of a book are those of the W3C Recommendation "EPUB 3.3": container, package, and spine.
markdownify converts everything except lists and tables, because it takes quadratic time for long
lists (21 s for 4,000 items) and shifts the cells beside one that spans rows.
"""

import posixpath
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement
from markdownify import ATX, MarkdownConverter

from domain.errors import UnreadableError
from domain.messages import _, join_messages
from loaders.encoding import declared_encoding, decode
from loaders.formats.archive import (
    attribute,
    child,
    local,
    open_zip,
    parse_part,
    part_elements,
    read_part,
)
from loaders.formats.content import (
    Content,
    clean,
    collapse_blank_lines,
    fenced,
    heading,
    one_line,
    pipe_table,
    without_empty_columns,
)
from loaders.formats.equations import join_equations
from loaders.formats.superscript import join_superscripts, superscript
from loaders.formats.web_equations import name_of, web_equation

_LANGUAGE = re.compile(r"(?:lang(?:uage)?-|brush:\s*)([\w+#-]+)")
_LANGUAGE_ATTRIBUTES = ("data-syntaxhighlighter-params",)
_CJK = r"[\u3001-\u30ff\u3400-\u9fff\uff01-\uff60]"
_CJK_BREAK = re.compile(rf"(?<={_CJK})[ \t]*\n[ \t]*(?={_CJK})")
_SPACES = re.compile(r"[ \t\n\xa0]+")
# Significant white space, in code and before list items; all other white space is collapsed.
_HARD_SPACE, _EMPTY_LINE = "\x02", "\x03"
_INVISIBLE = re.compile(r"^ +| +$|(?<= ) +", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_MAX_SPAN = 200


class PageConverter(MarkdownConverter):
    """markdownify's converter, with lists in linear time and complete tables.

    It writes no escapes and no emphasis marks.
    """

    class Options:
        """The options that differ from markdownify's."""

        heading_style = ATX
        bullets = "-"
        escape_asterisks = False
        escape_underscores = False
        strip = ("a", "b", "strong", "em", "i", "u", "s", "del", "q")

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        """Convert an element; a table is converted as a whole, because spans affect other cells."""
        if node.name == "table" and "_inline" not in (parent_tags or ()):
            return self._table(node, set(parent_tags or ()))
        if name_of(node) == "math":
            return self._equation(node, set(parent_tags or ()))
        return str(super().process_tag(node, parent_tags=parent_tags))  # type: ignore[misc]  # missing in the stubs

    def process_text(self, el: PageElement, parent_tags: set[str] | None = None) -> str:
        """Convert text; outside <pre>, line breaks become a space, or nothing in CJK text."""
        text = str(super().process_text(el, parent_tags=parent_tags))  # type: ignore[misc]  # missing in the stubs
        if "pre" in (parent_tags or ()):
            return text
        return _SPACES.sub(" ", _CJK_BREAK.sub("", text))

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Convert a heading unless it is empty."""
        if "_inline" in parent_tags or not text.strip():
            return text
        return f"\n\n{heading(n, text)}\n\n"

    def _equation(self, math: Tag, parent_tags: set[str]) -> str:
        """An equation in one line, in a paragraph of its own if it is displayed so."""
        equation = web_equation(math)
        is_block = math.get("display") == "block" and "_inline" not in parent_tags
        return f"\n\n{equation}\n\n" if is_block else equation

    def _table(self, table: Tag, parent_tags: set[str]) -> str:
        caption = table.find("caption")
        below: dict[int, tuple[int, str]] = {}  # column -> rows still covered by a cell above
        tags = parent_tags | {"table", "tr"}
        rows = [self._row(row, below, tags) for row in table.find_all("tr")]
        title = f"{one_line(self.process_tag(caption, tags))}\n\n" if caption else ""
        text = pipe_table(without_empty_columns(rows)).replace(" ", _HARD_SPACE)
        return f"\n\n{title}{text}\n\n"

    def _row(self, row: Tag, below: dict[int, tuple[int, str]], tags: set[str]) -> list[str]:
        """The row's cells; a cell that spans rows is repeated to keep each row complete."""
        texts: list[str] = []
        for cell in row.find_all(["td", "th"]):
            _take_covered(below, texts)
            text = one_line(self.process_tag(cell, parent_tags=tags))
            rows, columns = _span(cell, "rowspan"), _span(cell, "colspan")
            for offset in range(columns):
                cell_text = text if offset == 0 else ""
                if rows > 1:
                    below[len(texts)] = (rows - 1, cell_text)
                texts.append(cell_text)
        _take_covered(below, texts)
        return texts

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Return a cell's plain text; `_row` puts it into the table."""
        return text

    convert_th = convert_td

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Convert a list item; further lines are indented below its first."""
        lines = text.strip().split("\n")
        mark = f"{_number(el)}." if el.parent is not None and el.parent.name == "ol" else "-"
        indent = "\n" + _HARD_SPACE * (len(mark) + 1)
        body = indent.join(lines).replace(indent + "\n", "\n\n")
        return f"{mark} {body}\n" if text.strip() else "\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Convert a code block, with the language from its class."""
        if not text.strip():
            return ""
        lines = fenced(text, _language(el)).replace(" ", _HARD_SPACE).split("\n")
        return "\n\n" + "\n".join(line or _EMPTY_LINE for line in lines) + "\n\n"

    def convert__document_(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Return the page without the white space that browsers don't show."""
        text = _BLANK_LINES.sub("\n\n", _INVISIBLE.sub("", join_superscripts(join_equations(text))))
        return text.replace(_HARD_SPACE, " ").replace(_EMPTY_LINE, "").strip("\n")

    def convert_sup(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Convert a superscript; the mark of a footnote is omitted."""
        return "" if _is_note_mark(el) else superscript(text)

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Convert a picture to its alternative text."""
        return one_line(str(el.get("alt") or ""))

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002  markdownify's signature
        """Convert a line break to a newline, or to a space in a cell or heading."""
        return " " if "_inline" in parent_tags else "\n"


def _is_note_mark(raised: Tag) -> bool:
    """Whether a superscript is only a link within the page, as the marks of footnotes are."""
    parent = raised.parent
    link = parent if parent is not None and parent.name == "a" else raised.find("a")
    if link is None or not str(link.get("href") or "").startswith("#"):
        return False
    return link.get_text(strip=True) == raised.get_text(strip=True)


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
    """The item's number, one more than its predecessor's, which takes linear time per list."""
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


_NOISE = frozenset({
    "head", "script", "style", "noscript", "template", "nav", "svg", "iframe", "object", "canvas",
    "select", "datalist", "button", "input", "textarea", "audio", "video", "map",
})  # fmt: skip
_NOISE_ROLES = ("navigation", "search", "menu", "menubar", "toolbar")
_KATEX_DRAWING, _WIKI_PICTURE = "katex-html", "mwe-math-fallback-image"
"""The classes of drawings of equations, usually after a `math` element, which may be hidden."""
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*>")
_TABLE_PARTS = ["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"]
_TOO_DEEP = _("tags are nested too deeply: headings, lists, and tables were read as plain text")


def read(data: bytes) -> Content:
    """Read a page: its title, and its text as Markdown under that title.

    The encoding is that of the byte order mark, the declared one, or the most likely one.
    """
    decoded = decode(data, declared=declared_encoding(data))
    text, title, warnings = to_markdown(decoded.text)
    return Content(text, title, decoded.encoding, warnings=(*decoded.warnings, *warnings))


def to_markdown(html: str) -> tuple[str, str, tuple[str, ...]]:
    """Convert a page to Markdown; return the text, the title, and warnings.

    Only the words of links and emphasis are kept, because a quote must read like the page.
    """
    soup = _parse(html)
    title = one_line(soup.title.get_text()) if soup.title else ""
    _drop_noise(soup)
    _unwrap_layout_tables(soup)
    warnings: tuple[str, ...] = ()
    try:
        text = PageConverter().convert_soup(soup)
    except RecursionError:
        text, warnings = collapse_blank_lines(soup.get_text("\n")), (_TOO_DEEP,)
    text = clean(text)
    if title and text and not soup.find("h1"):
        text = f"# {title}\n\n{text}"
    return text, title, warnings


def _parse(html: str) -> BeautifulSoup:
    # lxml closes tags that authors leave open (<p>, <li>, <td>); html.parser nests them instead.
    page = _XML_DECLARATION.sub("", clean(html))
    return BeautifulSoup(f"<!DOCTYPE html>{page}", "lxml")


def _drop_noise(soup: BeautifulSoup) -> None:
    # One walk with plain comparisons: on large pages, bs4's searches would take most of the time.
    for tag in [node for node in soup.descendants if isinstance(node, Tag) and _is_noise(node)]:
        if not tag.decomposed:
            tag.decompose()


def _is_noise(tag: Tag) -> bool:
    if tag.name in _NOISE or "hidden" in tag.attrs or tag.attrs.get("role") in _NOISE_ROLES:
        return True
    classes = tag.attrs.get("class") or ()
    if any(one == _KATEX_DRAWING or one.startswith(_WIKI_PICTURE) for one in classes):
        return _is_equation(tag.find_previous_sibling())
    is_hidden = "style" in tag.attrs and _HIDDEN_STYLE.search(str(tag.attrs["style"])) is not None
    return is_hidden and not _is_equation(tag)


def _is_equation(tag: PageElement | None) -> bool:
    """Whether the tag is an equation, or contains one directly, as in KaTeX and on Wikipedia."""
    if not isinstance(tag, Tag):
        return False
    return tag.name == "math" or tag.find("math", recursive=False) is not None


def _unwrap_layout_tables(soup: BeautifulSoup) -> None:
    """Convert layout tables to blocks: those that contain tables or have only one column."""
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


_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_DRM = _("copy-protected (DRM): import an unprotected copy")


def read_epub(data: bytes) -> Content:
    """Read a book: its title and authors, then each chapter of the spine except the contents page.

    Raises:
        UnreadableError: The book is protected or damaged, or lists no chapters.
    """
    archive = open_zip(data, ".epub")
    place = _package_place(archive)
    package = parse_part(read_part(archive, place))
    chapters = list(_chapters(package, posixpath.dirname(place)))
    _check_protection(archive, chapters)
    title, authors = _title_and_authors(package)
    texts, warnings = _texts(archive, chapters, title)
    return Content("\n\n".join([*_head(title, authors, texts), *texts]), title, warnings=warnings)


def _package_place(archive: zipfile.ZipFile) -> str:
    container = parse_part(read_part(archive, _CONTAINER))
    places = (attribute(node, "full-path") for node in container.iter() if local(node))
    place = next(filter(None, places), "")
    if not place:
        raise UnreadableError(_("damaged (its container lists no book): get an intact copy"))
    return place


def _chapters(package: Any, folder: str) -> Iterator[str]:
    """The paths of the pages in reading order."""
    manifest, spine = child(package, "manifest"), child(package, "spine")
    if manifest is None or spine is None:
        raise UnreadableError(_("damaged (it lists no chapters): get an intact copy"))
    items = {attribute(item, "id"): item for item in manifest}
    for reference in spine:
        item = items.get(attribute(reference, "idref"))
        if item is None or "nav" in attribute(item, "properties").split():
            continue
        if attribute(item, "media-type") in _PAGES:
            yield posixpath.normpath(posixpath.join(folder, unquote(attribute(item, "href"))))


def _check_protection(archive: zipfile.ZipFile, chapters: list[str]) -> None:
    """Reject a book with encrypted chapters; encrypted fonts are common and harmless."""
    places = {unquote(attribute(node, "URI")) for node in part_elements(archive, _ENCRYPTION)}
    if places & set(chapters):
        raise UnreadableError(_DRM)


def _title_and_authors(package: Any) -> tuple[str, str]:
    """The title, and the joined authors, from the package."""
    metadata = child(package, "metadata")
    nodes = [] if metadata is None else list(metadata.iter())
    texts = {
        name: [one_line("".join(node.itertext())) for node in nodes if local(node) == name]
        for name in ("title", "creator")
    }
    authors = ", ".join(filter(None, dict.fromkeys(texts["creator"])))
    return next(filter(None, texts["title"]), ""), authors


def _head(title: str, authors: str, texts: list[str]) -> Iterator[str]:
    first = "\n".join(texts)[:2000]
    if title and title not in first:
        yield heading(1, title)
    if authors and authors not in first:
        yield authors


def _texts(
    archive: zipfile.ZipFile, chapters: list[str], title: str
) -> tuple[list[str], tuple[str, ...]]:
    texts: list[str] = []
    warnings: list[str] = []
    known_names = {title}
    for chapter in chapters:
        try:
            data = read_part(archive, chapter)
            page = decode(data, declared=declared_encoding(data)).text
        except UnreadableError as error:
            warnings.append(join_messages((chapter, str(error)), ": "))
            continue
        text, name, page_warnings = to_markdown(page)
        # In many books, every page has the book's title, which says nothing about the chapter.
        texts.append(text.removeprefix(f"# {name}\n\n") if name in known_names else text)
        known_names.add(name)
        warnings += page_warnings
    return [text for text in texts if text.strip()], tuple(dict.fromkeys(warnings))
