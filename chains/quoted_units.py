"""What is quoted together with a sentence, so that it says what it means by itself.

A sentence that announces a list brings the list, an item the list it belongs to where all of it is
asked for, and a row of a table the header above it.
"""

import re
from collections.abc import Iterator, Sequence

from chains.visible_text import shown
from language.blocks import Block, blocks
from language.sentences import split_sentences

MAX_ITEMS = 10
MAX_CHARS = 900
"""A longer list is quoted up to the end of an item."""
MAX_GAP = 250
"""A header further above its row can't be quoted with it (see `chains.quotes`)."""

_ANNOUNCES = re.compile(
    r"[:：][\s\"'”’)*_`」』]*\Z|\b(?:the following|as follows|these steps|listed below)\b"
    r"|(?:次|以下)の|下記|다음(?:과|은|의| )|아래(?:와|의| )"
)


def announces_list(text: str, start: int, end: int) -> bool:
    """Whether the sentence `text[start:end]` only introduces the list or table below it."""
    if not _ANNOUNCES.search(text[start:end]):
        return False
    following = next((block for block in blocks(text) if block.start >= end), None)
    return following is not None and (_is_item(following) or _is_row(text, following))


def quoted_unit(text: str, start: int, end: int, *, all_items: bool) -> tuple[int, int]:
    """The span to quote for the sentence `text[start:end]`: it alone, or its whole list.

    Args:
        text: The passage.
        start: Of the sentence.
        end: Of the sentence.
        all_items: Whether the question asks for all items of a list, or rows of a table.
    """
    found = list(blocks(text))
    at = next((n for n, block in enumerate(found) if block.start <= start < block.end), None)
    if at is None:
        return start, end
    if announces_list(text, start, end):
        return start, _list_end(text, found, at + 1, start)
    if not all_items or not (_is_item(found[at]) or _is_row(text, found[at])):
        return start, end
    first = _list_start(text, found, at)
    begin = _introduction(text, found, first)
    stop = _list_end(text, found, first, begin)
    return (begin, stop) if stop >= end else (start, end)


def readable(text: str, start: int, end: int) -> str:
    """The span as it is quoted: an item or row to a line, a lone row below its header."""
    lines = [shown(line) for line in _lines(text, start, end)]
    quote = "\n".join(filter(None, lines))
    return _header_above(text, start) + quote


def _lines(text: str, start: int, end: int) -> Iterator[str]:
    for block in blocks(text[start:end]):
        yield text[start + block.start : start + block.end]


def _header_above(text: str, start: int) -> str:
    """The header of the table that the row at `start` belongs to, as a line of its own.

    Empty where it is too far up to be quoted, or the span begins with it.
    """
    found = list(blocks(text))
    at = next((n for n, block in enumerate(found) if block.start <= start < block.end), None)
    if at is None or not _is_row(text, found[at]):
        return ""
    first = _list_start(text, found, at)
    if first == at or start - found[first].end > MAX_GAP:
        return ""
    between = shown(text[found[first].end : start])
    return shown(text[found[first].start : found[first].end]) + (" …\n" if between else "\n")


def _list_start(text: str, found: Sequence[Block], at: int) -> int:
    """The place of the first block of the list or table that the block at this place is in."""
    while at > 0 and _same_kind(text, found[at - 1], found[at]):
        at -= 1
    return at


def _list_end(text: str, found: Sequence[Block], first: int, begin: int) -> int:
    """Where the list ends that begins with this block, or the last item that is not too much."""
    end = found[first].end
    for n in range(first + 1, min(len(found), first + MAX_ITEMS)):
        if not _same_kind(text, found[n - 1], found[n]) or found[n].end - begin > MAX_CHARS:
            break
        end = found[n].end
    return begin + len(text[begin:end].rstrip())


def _introduction(text: str, found: Sequence[Block], first: int) -> int:
    """Where the sentence begins that introduces the list, else the list."""
    start = found[first].start
    if first == 0 or not found[first - 1].is_prose:
        return start
    before = found[first - 1]
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
