"""Splits a document's text into passages with their exact positions."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from domain import Passage, digest_of
from domain.language.script import IS_CJK

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

SPLITTER_VERSION = "1"
"""Changes whenever the same text would produce other passages; part of every passage's id."""

Span = tuple[int, int]
Section = tuple[int, int, tuple[str, ...]]

_FENCE_MARK = r"[^\S\n]*(?P<fence>```|~~~)"
# Lines that determine where sections begin: those that look like a heading (unless four spaces make
# it code) or a fence.
_HEADING_OR_FENCE = re.compile(
    rf"^(?:[ ]{{0,3}}(?P<level>\#{{1,6}})(?=\s|$)|{_FENCE_MARK})[^\n]*", re.MULTILINE
)
_FENCED = re.compile(
    rf"^{_FENCE_MARK}(?![^\n]*(?P=fence))[^\n]*\n(?:[^\n]*\n)*?[^\S\n]*(?P=fence)[^\n]*",
    re.MULTILINE,
)
_CLOSERS = r"[\"'”’)\]）」』】〉》]*"
_SEPARATORS = (
    r"\n\s*\n",
    # The ends of table rows and of lines that end a sentence, and the starts of list items; a line
    # of wrapped text continues on the next line.
    r"(?<=[|.!?。！？])[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•]|\d{1,3}[.)])[^\S\n])",
    rf"[。！？｡]+{_CLOSERS}\s*|(?<![.!?…])[.!?…]++{_CLOSERS}+\s++(?![a-z])|(?<=[다요죠까])\.(?=[가-힣])",
    r"\n",
    r"[、，；：]|[,;:]\s+",
    r"\s+",
)
_SENTENCE_END = re.compile("|".join(_SEPARATORS[:3]))
_SPACE = re.compile(r"\s+")
# Replaces code that must stay whole. It is a noncharacter, which no text uses.
_MASK = "\uffff"


def split(
    text: str,
    *,
    document_id: str,
    version: str,
    pages: Sequence[tuple[int, int]] = (),
    size: int = 1000,
    overlap: int = 150,
) -> list[Passage]:
    """Split a document into passages, in order; `text[p.start:p.end] == p.text` for each of them.

    Sections are split at paragraphs, rows and list items, sentences, clauses, and words, in that
    order of preference; fenced code stays whole if it fits. Together the passages contain every
    character except white space; none is empty or extends into a section with its own text. White
    space around passages is omitted.

    Args:
        text: The whole document, as Markdown.
        document_id: Part of the passages and their ids.
        version: Part of the ids.
        pages: Start offset and number of each page, ascending.
        size: The maximum number of characters in a passage.
        overlap: About how many characters a passage repeats from the previous passage of its
            section, starting at a sentence or word.

    Raises:
        ValueError: `size` is below 1, or `overlap` is negative or not smaller than `size`.
    """
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"size {size} must be at least 1 and overlap {overlap} below it")
    salt = (document_id, version, SPLITTER_VERSION, str(size), str(overlap))
    page_starts = [start for start, _ in pages]
    passages: list[Passage] = []
    for (start, end), heading_path in _spans(text, size, overlap):
        page = bisect_right(page_starts, start)
        passages.append(
            Passage(
                id=digest_of(*salt, str(start), str(end)),
                document_id=document_id,
                ordinal=len(passages),
                start=start,
                end=end,
                text=text[start:end],
                heading_path=heading_path,
                page=pages[page - 1][1] if page else None,
            )
        )
    return passages


def _spans(text: str, size: int, overlap: int) -> Iterator[tuple[Span, tuple[str, ...]]]:
    splitter = _character_splitter(size - overlap)
    for start, end, heading_path in _sections(text):
        whole = list(_trim(text, start, end))
        fits = all(last - first <= size for first, last in whole)
        pieces = whole if fits else _pieces(text, start, end, size, splitter)
        for span in _overlapping(text, _join_small(pieces, size, overlap), size, overlap):
            yield span, heading_path


def _character_splitter(size: int) -> "RecursiveCharacterTextSplitter":
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    # The last separator matches whole pieces: one character at a time would be quadratic.
    return RecursiveCharacterTextSplitter(
        separators=[*_SEPARATORS, rf"{_MASK}+|[^{_MASK}]{{1,{size}}}"],
        is_separator_regex=True,
        keep_separator="end",
        strip_whitespace=False,
        chunk_size=size,
        chunk_overlap=0,
    )


def _sections(text: str) -> Iterator[Section]:
    """The sections in order, without gaps.

    A heading without text below it belongs to the next section: on its own it would be found often,
    because it is short, and prove nothing. Sections with their own text are never merged, however
    small they are, because a passage over several of them could only name the headings that they
    share.
    """
    headings = _headings(text)
    start = body = 0
    heading_path: tuple[str, ...] = ()
    for at, end_of_line, path in headings:
        if text[body:at].strip():
            yield start, at, heading_path
            start = at
        body, heading_path = end_of_line, path
    yield start, len(text), heading_path


def _headings(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Start, end, and heading path of each heading line outside fenced code."""
    headings = []
    titles: dict[int, str] = {}  # by level
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(text):
        line, mark = match.group(), match["fence"]
        if mark and not fence:
            is_inline = mark == "```" and line.count(mark) > 1
            fence = "" if is_inline else mark
        elif mark == fence:
            fence = ""
        elif match["level"] and not fence:
            level = len(match["level"])
            titles = {above: title for above, title in titles.items() if above < level}
            titles[level] = _title(line)
            headings.append((*match.span(), tuple(filter(None, titles.values()))))
    return headings


def _title(heading: str) -> str:
    return " ".join(re.sub(r"\s#+\s*$", "", heading.strip().lstrip("#")).split())


def _pieces(
    text: str, start: int, end: int, size: int, splitter: "RecursiveCharacterTextSplitter"
) -> Iterator[Span]:
    """Split a section into pieces of at most `size` characters, without outer white space."""
    at = start
    for piece in splitter.split_text(_mask(text[start:end], size)):
        yield from _trim(text, at, at + len(piece))
        at += len(piece)


def _mask(section: str, size: int) -> str:
    """The section with code that must stay whole masked as a word of the same length."""

    def mask(fenced: re.Match[str]) -> str:
        length = len(fenced.group())
        return _MASK * length if length <= size else fenced.group()

    return _FENCED.sub(mask, section.replace(_MASK, "x"))


def _trim(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if stripped := piece.strip():
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(stripped)


def _join_small(pieces: Iterable[Span], size: int, small: int) -> list[Span]:
    """Join pieces of at most `small` characters to a neighbor if the result fits into `size`."""
    joined: list[Span] = []
    for start, end in pieces:
        if joined:
            first, last = joined[-1]
            if min(last - first, end - start) <= small and end - first <= size:
                joined[-1] = (first, end)
                continue
        joined.append((start, end))
    return joined


def _overlapping(text: str, pieces: list[Span], size: int, overlap: int) -> Iterator[Span]:
    """Extend each piece backward by up to `overlap` characters, as far as `size` allows."""
    earliest = None
    for start, end in pieces:
        if earliest is None:
            yield start, end
        else:
            yield _clean_start(text, max(earliest, start - overlap, end - size), start), end
        earliest = start + 1


def _clean_start(text: str, earliest: int, start: int) -> int:
    """The first start of a sentence from `earliest` to `start`, else of a word or CJK character."""
    for boundary in (_SENTENCE_END, _SPACE):
        match = boundary.search(text, earliest, start)
        if match is not None and match.end() < start:
            return start - len(text[match.end() : start].lstrip())
    return earliest if IS_CJK.match(text, earliest) else start
