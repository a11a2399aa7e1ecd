"""Which words of a passage a keyword search matched, as a person would read them."""

import re
from collections.abc import Iterator
from itertools import pairwise

from language.characters import CJK
from language.tokens import keyword_tokens, words_with_tokens

_IS_CJK = re.compile(f"[{CJK}]")


def matched_words(query: str, text: str) -> list[str]:
    """The words of the text that share a search token with the query.

    Each stands once, in the form (NFKC) and order of its first place. Of a Korean, Japanese or
    Chinese run only the stretches that match are given: 휴가 of 휴가를.
    """
    wanted = set(keyword_tokens(query))
    found: dict[str, None] = {}
    for word, tokens in words_with_tokens(text):
        if wanted.intersection(tokens):
            found.update(dict.fromkeys(_matching_parts(word, tokens, wanted)))
    return list(found)


def _matching_parts(word: str, tokens: tuple[str, ...], wanted: set[str]) -> Iterator[str]:
    """The stretches of a run that its matching tokens cover; a spaced word matches as a whole."""
    if not _IS_CJK.match(word):
        yield word
        return
    pairs = [first + second for first, second in pairwise(word)]
    covered = [letter in wanted and letter in tokens for letter in word]
    for place, pair in enumerate(pairs):
        if pair in wanted:
            covered[place] = covered[place + 1] = True
    yield from _stretches(word, covered)


def _stretches(word: str, covered: list[bool]) -> Iterator[str]:
    start = None
    for place, inside in enumerate([*covered, False]):
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            yield word[start:place]
            start = None
