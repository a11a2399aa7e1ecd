"""Extends a quoted sentence so that the quote can be understood on its own.

A sentence that announces a list is quoted with the list, an item with its whole list if the
question asks for all items, and a table row with the table's header.
"""

import re
from collections.abc import Iterator, Sequence

from chains.citations.visible_text import shown
from domain.language.sentences import Block, blocks, split_sentences

MAX_ITEMS = 10
MAX_CHARS = 900
"""The maximum length of a quote; a longer list is cut after an item."""
MAX_GAP = 250
"""Maximum characters from a row up to a header that is quoted with it; see `QuoteFinder`."""

_ANNOUNCES = re.compile(
    r"[:：][\s\"'”’)*_`」』]*\Z|\b(?:the following|as follows|these steps|listed below)\b"
    r"|(?:次|以下)の|下記|다음(?:과|은|의| )|아래(?:와|의| )"
)


def announces_list(text: str, start: int, end: int) -> bool:
    """Whether the sentence `text[start:end]` merely introduces the list or table below it."""
    if not _ANNOUNCES.search(text[start:end]):
        return False
    following = next((block for block in blocks(text) if block.start >= end), None)
    return following is not None and (_is_item(following) or _is_row(text, following))


def quoted_unit(text: str, start: int, end: int, *, all_items: bool) -> tuple[int, int]:
    """The span to quote for the sentence `text[start:end]`: the sentence or its whole list.

    Args:
        text: The passage.
        start: The start of the sentence.
        end: The end of the sentence, exclusive.
        all_items: Whether the question asks for all items of a list or all rows of a table.
    """
    parts = list(blocks(text))
    index = next((n for n, block in enumerate(parts) if block.start <= start < block.end), None)
    if index is None:
        return start, end
    if announces_list(text, start, end):
        return start, _list_end(text, parts, index + 1, start)
    if not all_items or not (_is_item(parts[index]) or _is_row(text, parts[index])):
        return start, end
    first = _list_start(text, parts, index)
    begin = _introduction(text, parts, first)
    stop = _list_end(text, parts, first, begin)
    return (begin, stop) if stop >= end else (start, end)


def readable(text: str, start: int, end: int) -> str:
    """The span in quoted form: one line per item or row, and a single row below its header."""
    lines = [shown(line) for line in _lines(text, start, end)]
    quote = "\n".join(filter(None, lines))
    return _header_above(text, start) + quote


def _lines(text: str, start: int, end: int) -> Iterator[str]:
    for block in blocks(text[start:end]):
        yield text[start + block.start : start + block.end]


def _header_above(text: str, start: int) -> str:
    """The header line of the table that contains the row at `start`.

    Empty if the header is too far above to be quoted, or if the span begins with it.
    """
    parts = list(blocks(text))
    index = next((n for n, block in enumerate(parts) if block.start <= start < block.end), None)
    if index is None or not _is_row(text, parts[index]):
        return ""
    first = _list_start(text, parts, index)
    if first == index or start - parts[first].end > MAX_GAP:
        return ""
    between = shown(text[parts[first].end : start])
    return shown(text[parts[first].start : parts[first].end]) + (" …\n" if between else "\n")


def _list_start(text: str, parts: Sequence[Block], index: int) -> int:
    """The index of the first block of the list or table that contains the block at `index`."""
    while index > 0 and _same_kind(text, parts[index - 1], parts[index]):
        index -= 1
    return index


def _list_end(text: str, parts: Sequence[Block], first: int, begin: int) -> int:
    """The end of the list that begins with the block `first`, or of the last item that fits."""
    end = parts[first].end
    for n in range(first + 1, min(len(parts), first + MAX_ITEMS)):
        if not _same_kind(text, parts[n - 1], parts[n]) or parts[n].end - begin > MAX_CHARS:
            break
        end = parts[n].end
    return begin + len(text[begin:end].rstrip())


def _introduction(text: str, parts: Sequence[Block], first: int) -> int:
    """The start of the sentence that introduces the list, or else of the list itself."""
    start = parts[first].start
    if first == 0 or not parts[first - 1].is_prose:
        return start
    before = parts[first - 1]
    *_, last = split_sentences(text[before.start : before.end])
    introduction = text[before.start + last[0] : before.start + last[1]]
    return before.start + last[0] if _ANNOUNCES.search(introduction) else start


def _same_kind(text: str, one: Block, other: Block) -> bool:
    if _is_item(one) and _is_item(other):
        return True
    return _is_row(text, one) and _is_row(text, other)


def _is_item(block: Block) -> bool:
    return block.is_prose and block.prose_start > block.start


def _is_row(text: str, block: Block) -> bool:
    return not block.is_prose and text[block.start : block.end].lstrip().startswith("|")
