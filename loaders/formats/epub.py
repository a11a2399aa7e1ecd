"""EPUB books as Markdown: their chapters in reading order.

The parts read are those of the W3C Recommendation "EPUB 3.3": container, package, spine.
"""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from errors import UnreadableError
from loaders.encoding import declared_encoding, decode
from loaders.formats.archive import open_zip, read_part
from loaders.formats.content import Content, heading, one_line
from loaders.formats.html import to_markdown
from loaders.formats.markup import attribute, child, local, parse_part

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_DRM = "protected against copying (DRM): import a copy without it"


def read(data: bytes) -> Content:
    """Read a book: its title and authors, then each chapter of the spine but its contents page.

    Raises:
        UnreadableError: It is protected, damaged, or names no chapter.
    """
    archive = open_zip(data, ".epub")
    place = _package_place(archive)
    package = parse_part(read_part(archive, place))
    chapters = list(_chapters(package, posixpath.dirname(place)))
    _check_protection(archive, chapters)
    title, authors = _told(package)
    texts, warnings = _texts(archive, chapters, title)
    return Content("\n\n".join([*_head(title, authors, texts), *texts]), title, warnings=warnings)


def _package_place(archive: zipfile.ZipFile) -> str:
    container = parse_part(read_part(archive, _CONTAINER))
    places = (attribute(node, "full-path") for node in container.iter() if local(node))
    place = next(filter(None, places), "")
    if not place:
        raise UnreadableError("damaged: its container names no book")
    return place


def _chapters(package: Any, folder: str) -> Iterator[str]:
    """The paths of the pages in reading order."""
    manifest, spine = child(package, "manifest"), child(package, "spine")
    if manifest is None or spine is None:
        raise UnreadableError("damaged: it names no chapters")
    items = {attribute(item, "id"): item for item in manifest}
    for reference in spine:
        item = items.get(attribute(reference, "idref"))
        if item is None or "nav" in attribute(item, "properties").split():
            continue
        if attribute(item, "media-type") in _PAGES:
            yield posixpath.normpath(posixpath.join(folder, unquote(attribute(item, "href"))))


def _check_protection(archive: zipfile.ZipFile, chapters: list[str]) -> None:
    """Refuse a book whose chapters are encrypted; that fonts are is usual and harmless."""
    if _ENCRYPTION not in archive.namelist():
        return
    encrypted = parse_part(read_part(archive, _ENCRYPTION))
    places = {unquote(attribute(node, "URI")) for node in encrypted.iter() if local(node)}
    if places & set(chapters):
        raise UnreadableError(_DRM)


def _told(package: Any) -> tuple[str, str]:
    """The title and the authors, joined, as the package tells them."""
    metadata = child(package, "metadata")
    nodes = [] if metadata is None else list(metadata.iter())
    found = {
        name: [one_line("".join(node.itertext())) for node in nodes if local(node) == name]
        for name in ("title", "creator")
    }
    authors = ", ".join(filter(None, dict.fromkeys(found["creator"])))
    return next(filter(None, found["title"]), ""), authors


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
    seen = {title}
    for chapter in chapters:
        try:
            data = read_part(archive, chapter)
            page = decode(data, declared=declared_encoding(data)).text
        except UnreadableError as error:
            warnings.append(f"{chapter}: {error}")
            continue
        text, name, told = to_markdown(page)
        # Many books name each page as the book: that says nothing about the chapter.
        texts.append(text.removeprefix(f"# {name}\n\n") if name in seen else text)
        seen.add(name)
        warnings += told
    return [text for text in texts if text.strip()], tuple(dict.fromkeys(warnings))
