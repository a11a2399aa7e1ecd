"""Titles that distinguish the conversations of a list from each other."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

CELLS = 26
"""The width of a title that always fits in the sidebar; wide characters take two cells."""
_ELLIPSIS = "…"
_ROUNDS = 4


def distinct_titles(
    titles: Sequence[str], notes: Sequence[Sequence[str]], cells: int = CELLS
) -> list[str]:
    """The titles on one line each, in order, and all different.

    Titles that would look alike when cut off after `cells` are shortened in the middle instead, so
    that the part that differs is visible. Equal titles end with the first of their notes that
    distinguishes them, such as a time and a more exact time. Other titles are not shortened. The
    last notes must be different.
    """
    lines = [" ".join(title.split()) for title in titles]
    visible = _distinct_parts(lines, cells)
    shown = [visible[line] for line in lines]
    for suffixes in zip(*notes, strict=True):
        counts = Counter(_cut(one, cells) for one in shown)
        shown = [
            _ending_with(suffix, visible[line], cells) if counts[_cut(one, cells)] > 1 else one
            for one, line, suffix in zip(shown, lines, suffixes, strict=True)
        ]
    return shown


def _distinct_parts(lines: Sequence[str], cells: int) -> dict[str, str]:
    """Each line, shortened so that it looks different from the others, if possible."""
    visible = {line: line for line in lines}
    shared = dict.fromkeys(lines, 0)
    for _ in range(_ROUNDS):  # the lines of a group may still look alike, or like another line
        for group in _alike(visible, shared, cells):
            for line in group:
                shared[line] = _shared_length(group)
                visible[line] = _around(line, shared[line], cells)
    return visible


def _ending_with(suffix: str, text: str, cells: int) -> str:
    return f"{_cut(text, cells - _width(suffix) - 1)} {suffix}"


def _alike(visible: Mapping[str, str], shared: Mapping[str, int], cells: int) -> list[list[str]]:
    """The groups of lines that look the same, if showing another part may distinguish them."""
    groups = defaultdict(list)
    for line, text in visible.items():
        groups[_cut(text, cells)].append(line)
    return [
        group
        for group in groups.values()
        if len(group) > 1 and any(shared[line] < _shared_length(group) for line in group)
    ]


def _shared_length(lines: Sequence[str]) -> int:
    """The number of characters that all lines have in common at their beginning."""
    first, last = min(lines), max(lines)
    pairs = zip(first, last, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), len(first))


def _around(line: str, start: int, cells: int) -> str:
    """The beginning of the line and what follows `start`, from the beginning of its word."""
    word = line.rfind(" ", 0, start) + 1
    if _width(line[word:start]) <= cells // 4:
        start = word
    mark = f"{_ELLIPSIS} " if start and line[start - 1] == " " else _ELLIPSIS
    end = mark + _cut(line[start:], cells * 2 // 3)
    beginning = _fitting(line[:start], cells - _width(end))
    if not line[len(beginning) :].startswith(" "):  # the last word is incomplete
        beginning = beginning.rpartition(" ")[0] or beginning
    return beginning.rstrip() + end


def _cut(line: str, cells: int) -> str:
    """The beginning of the line, with an ellipsis if the line is wider than `cells`."""
    if _width(line) <= cells:
        return line
    return _fitting(line, cells - _width(_ELLIPSIS)).rstrip() + _ELLIPSIS


def _fitting(line: str, cells: int) -> str:
    """The longest beginning of the line that is at most `cells` wide."""
    width = 0
    for index, character in enumerate(line):
        width += _width(character)
        if width > cells:
            return line[:index]
    return line


def _width(text: str) -> int:
    """The number of cells: two for each wide character, one for any other."""
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)
