"""The text of a place as Markdown: its facts and its reviews, each review a section of its own."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# What makes a line the beginning of a section, of code, or the line above it a heading.
_STRUCTURE = re.compile(r"^([^\S\n]*)(?=#{1,6}(?:\s|$)|```|~~~|(?:=+|-+)[^\S\n]*$)", re.MULTILINE)
_BREAK = "\n\n"


class GivenReview(NamedTuple):
    """A review as the data has it: `group`, `date` and `id` are "" where there is none."""

    text: str
    group: str = ""
    rating: float | None = None
    date: str = ""
    id: str = ""


class PlaceText(NamedTuple):
    """A place's text, and the span in it of each review's, in their order."""

    text: str
    spans: list[tuple[int, int]]


def place_text(
    title: str,
    paragraphs: Iterable[str],
    facts: Iterable[tuple[str, str]],
    reviews: Sequence[GivenReview],
    scale: float,
) -> PlaceText:
    """Write a place down; ratings of reviews are from 0 to `scale`.

    Title and facts are on one line each, and no text is only white space. What would structure a
    text (headings, fences) is escaped, so that `loaders.split` cuts at reviews, and never within
    one because of what somebody wrote.
    """
    parts = [f"# {title}", *map(plain, paragraphs)]
    if listed := [f"- {name}: {value}" for name, value in facts]:
        parts += ["## Facts", "\n".join(listed)]
    if reviews:
        parts.append("## Reviews")
    spans = []
    end = len(_BREAK.join(parts))
    for review in reviews:
        parts += [f"### {_heading(review, scale)}", plain(review.text)]
        start = end + len(_BREAK) + len(parts[-2]) + len(_BREAK)
        end = start + len(parts[-1])
        spans.append((start, end))
    return PlaceText(_BREAK.join(parts), spans)


def plain(text: str) -> str:
    """The text, without white space around it, with a backslash before what would structure it."""
    return _STRUCTURE.sub(r"\1\\", text.strip())


def _heading(review: GivenReview, scale: float) -> str:
    rating = "" if review.rating is None else f"{review.rating:g}/{scale:g}"
    return " · ".join(filter(None, (review.group or "Review", rating, review.date)))
