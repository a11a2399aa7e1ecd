"""Decides whether a question is about the places of a catalog, by rules without a model."""

import re
from collections.abc import Iterator, Sequence

from domain import CatalogQuery, PlaceHit
from domain.language.script import CJK, HANGUL
from domain.language.tokens import content_tokens
from services.catalog.place_match import recognized_kinds
from services.catalog.word_finder import Phrases, fold_text

_PHRASES = Phrases("about")
MIN_COVERAGE = 0.6
"""The minimum share of the words of a question that a place's passages must contain."""
MIN_NAME, MIN_CJK_NAME = 4, 2
"""The minimum length of a recognized name, in general and in Korean, Japanese, or Chinese."""

_CJK_LETTER = re.compile(f"[{CJK}]")
_LATIN = f"[^\\W_{CJK}]"
_EDGE = "(?:(?<!{letter})|(?!{letter}))"
# Compiling these takes milliseconds, so they do not contain the name between them.
_NAME_START = re.compile(_EDGE.format(letter=_LATIN) + _EDGE.format(letter=f"[{HANGUL}]"))
_NAME_END = re.compile(f"(?!{_LATIN})")


def is_about_places(query: CatalogQuery, hits: Sequence[PlaceHit]) -> bool:
    """Whether the question asks for places; `hits` are those that its text retrieved.

    A question that names a value of the catalog or an aspect, or whose words are those of a place,
    does, unless it asks for a fact or an explanation. A question that asks for a place always does.
    """
    text = fold_text(query.question).text
    if _PHRASES["asks_for_a_place"].search(text) or _names_a_place(text, hits):
        return True
    kinds = recognized_kinds(query)
    if _PHRASES["asks_for_something_else"].search(text):
        return kinds > 1
    return kinds > 0 or _is_covered(query.question, hits)


def _names_a_place(text: str, hits: Sequence[PlaceHit]) -> bool:
    """Whether the question contains the name of a retrieved place, not within another word."""
    return any(_contains(text, fold_text(one.place.title).text) for one in hits)


def _contains(text: str, name: str) -> bool:
    """Whether the text contains the name as whole words; particles may follow a Korean name."""
    is_long_enough = len(name) >= (MIN_CJK_NAME if _CJK_LETTER.match(name) else MIN_NAME)
    return is_long_enough and any(
        _NAME_START.match(text, start) and _NAME_END.match(text, start + len(name))
        for start in _occurrences(text, name)
    )


def _occurrences(text: str, name: str) -> Iterator[int]:
    """Where the name starts in the text, including within words."""
    start = text.find(name)
    while start >= 0:
        yield start
        start = text.find(name, start + 1)


def _is_covered(question: str, hits: Sequence[PlaceHit]) -> bool:
    """Whether a place's passages contain most words of the question; always for a single word."""
    words = set(content_tokens(question))
    required = MIN_COVERAGE * len(words)
    return len(words) < 2 or any(len(words & _words_of(hit)) >= required for hit in hits)


def _words_of(hit: PlaceHit) -> set[str]:
    return {token for passage in hit.passages for token in content_tokens(passage.text)}
