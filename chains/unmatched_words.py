"""The part of a question that a passage does not hold word for word."""

import re
import unicodedata
from collections.abc import Collection

from language.characters import CJK, HAN, HANGUL, KATAKANA
from language.tokens import content_tokens

HELD_SHARE = 0.6
"""A word is held where so many of its tokens are: Korean endings differ, the stem need not."""

_LATIN = rf"[^\W_{CJK}]+"
_WORD = re.compile(rf"[{HANGUL}]+|[{HAN}]+|[{KATAKANA}]+|{_LATIN}(?:[-_.'\u2019]{_LATIN})*")


def unmatched_words(question: str, tokens: Collection[str]) -> str:
    """The question, in its order, without the words that the tokens hold.

    Of *What is the Dunlin's top speed?* and a passage about the Dunlin it is *What is the top
    speed?*: what is asked about a thing, without the thing. Empty where no word that carries
    meaning is left.
    """
    text = unicodedata.normalize("NFKC", question)
    left, end = [], 0
    for word in _WORD.finditer(text):
        if _is_held(word[0], tokens):
            left.append(text[end : word.start()])
            end = word.end()
    rest = " ".join("".join([*left, text[end:]]).split())
    return rest if content_tokens(rest) else ""


def _is_held(word: str, tokens: Collection[str]) -> bool:
    own = set(content_tokens(word))
    return bool(own) and sum(token in tokens for token in own) >= HELD_SHARE * len(own)
