"""Finds the title of a document: its own title, its top heading, or the name of its file."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from domain.language.tokens import content_tokens
from loaders.formats.content import Content, clean, file_title, one_line

_WITH_HEADINGS = frozenset((
    ".md", ".markdown", ".html", ".htm", ".pdf", ".docx", ".doc", ".pptx", ".ppt", ".ipynb", ".rtf",
    ".odt", ".odp", ".hwp", ".hwpx",
))  # fmt: skip
# Markup that is often saved as text: "index.adoc.txt".
_MARKUP = frozenset((".md", ".markdown", ".adoc", ".asciidoc", ".rst"))
_MAX_CHARS = 200
_TOP_LINES = 200  # a heading below these is not the document's title
_OPENING = 3000  # characters that contain a word of the document's own title
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_ASCIIDOC = re.compile(r"(={1,6})[ \t]+(\S.*?)[ \t]*=*$")
_UNDERLINE = re.compile(r"={3,}[ \t]*$")
_FRONT_MATTER = re.compile(r"\A---\n(?:.*\n){0,50}?---[ \t]*\n")
# Badges, logos, comments, and settings above the title.
_DECORATION = re.compile(
    r"\s*(?:<|\[?!\[|\[[^\]]*\]$|//|:[\w!-]+:|\.\. |(?:if|end|include)\w*::|-{3,}$)"
)
_CHAPTER = re.compile(
    r"(?:chapter|section|part|appendix|annex)\s+(?:\d+|[ivx]+|[a-z])\b|\d+(?:\.\d+)*[.)]\s"
    r"|\d+(?:\.\d+)+\s|[01]\s|제\s?\d+\s?[장절조편부]|第\s?[\d一二三四五六七八九十]+\s?[章節条部編]"
    r"|(?:(?:table of )?contents|introduction|overview|summary|abstract|preface|foreword|purpose"
    r"|scope|background|목차|차례|개요|서론|머리말|들어가며|소개|목적|目次|はじめに|概要|序文|序論"
    r"|目的|まえがき)\W*$",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"template|vorlage|서식|템플릿|テンプレート|ひな形|雛形", re.IGNORECASE)
_COMMON_NAME = re.compile(
    r"(?:_?index|readme|default|home|main|contents|toc|overview|introduction|intro|about|untitled"
    r"|목차|개요|소개|目次|概要|はじめに)(?:\.\w+)?$",
    re.IGNORECASE,
)


class _Heading(NamedTuple):
    level: int
    text: str
    is_at_top: bool


def document_title(content: Content, name: str) -> str:
    """The title of a document, at most 200 characters; never empty.

    It is the first of these: the title in the file's properties, unless a program or a template set
    it; the heading at the top of the text, in formats that have headings, unless it is a chapter's;
    the file's name, after its folder's if the name is common ("setup/index").
    """
    own, top = file_title(clean(content.title)), _top_heading(content.text, name)
    if own and (top or _TEMPLATE.search(own)) and not _fits(own, f"{name}\n{content.text}"):
        own = ""
    return (own or top)[:_MAX_CHARS].strip() or _title_of_file(name)


def _fits(title: str, text: str) -> bool:
    """Whether the text contains a word of the title; the title of a template has none in it."""
    words = set(content_tokens(title))
    return not words.isdisjoint(content_tokens(text[:_OPENING]))


def _top_heading(text: str, name: str) -> str:
    """The level-one heading that opens the text, or that is its only one and comes first.

    In a PDF, headings are guessed from letter sizes, so only an opening heading counts.
    """
    suffix = _markup_suffix(name)
    headings = list(_headings(text, suffix)) if suffix else []
    if not headings or headings[0].level > 1:
        return ""
    first, *others = headings
    is_only = suffix != ".pdf" and all(one.level > 1 for one in others)
    title = file_title(first.text)
    is_title = (first.is_at_top or is_only) and len(title) <= _MAX_CHARS
    return title if is_title and not _CHAPTER.match(title) else ""


def _markup_suffix(name: str) -> str:
    """The suffix that determines how headings are written; empty for formats without headings."""
    *inner, suffix = PurePosixPath(name.lower()).suffixes or [""]
    if suffix == ".txt" and inner and inner[-1] in _MARKUP:
        return inner[-1]
    return suffix if suffix in _WITH_HEADINGS else ""


def _headings(text: str, suffix: str) -> Iterator[_Heading]:
    pattern = _ASCIIDOC if suffix in (".adoc", ".asciidoc") else _ATX
    in_code, is_at_top, before = False, True, ""
    for line in islice(_lines(text), _TOP_LINES):
        if _FENCE.match(line):
            in_code, is_at_top = not in_code, False
        elif not in_code and (match := pattern.match(line)):
            yield _Heading(len(match[1]), one_line(match[2]), is_at_top and not before)
            is_at_top, before = False, ""
        elif not in_code and _UNDERLINE.match(line) and before:
            yield _Heading(1, one_line(before), is_at_top)
            is_at_top, before = False, ""
        elif not _UNDERLINE.match(line) and not _DECORATION.match(line):
            is_at_top, before = is_at_top and not before, line


def _lines(text: str) -> Iterator[str]:
    """The non-blank lines without the front matter."""
    plain = text[: 100 * _TOP_LINES].replace("\r\n", "\n")
    body = _FRONT_MATTER.sub("", plain.removeprefix("\ufeff"))
    return (line for line in body.split("\n") if line.strip())


def _title_of_file(name: str) -> str:
    path = PurePosixPath(unicodedata.normalize("NFC", clean(name)))
    return name_in_folder(path.stem or path.name or "untitled", path.parent.name)


def name_in_folder(name: str, folder: str) -> str:
    """The name, after its folder's if many files have that name: "setup/index"."""
    return f"{folder}/{name}" if folder and _COMMON_NAME.match(name) else name
