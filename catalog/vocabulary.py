"""How words of people's judgements are written down, and the forms that they stand for.

An entry is a word or a few. In Korean and Japanese [xyz] is any one of the characters, [xyz]? one
or none, a space may be missing, and < says that no letter may stand before it: what follows an
entry is free, so a stem stands for its inflections. In English the last word also has its endings
(-s, -er, -ly, ...), and a space may be a hyphen.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

_CHOICE = re.compile(r"\[([^\]]+)\](\??)|(.)", re.DOTALL)
_MAX_FORMS = 64
_SPACES = {"en": (" ", "-"), "ko": (" ", ""), "ja": ("", " ")}
WORD_START = "<"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The entries of one aspect in one language, separated by commas.

    `about` names the aspect, `things` are what it is judged by and say nothing without a judgement;
    `good` and `bad` judge by themselves, `good_with` and `bad_with` only beside one of those two.
    """

    about: str = ""
    things: str = ""
    good: str = ""
    bad: str = ""
    good_with: str = ""
    bad_with: str = ""


def entries(listed: str) -> list[str]:
    """The entries of a list that is separated by commas."""
    return [entry for entry in (" ".join(part.split()) for part in listed.split(",")) if entry]


def forms(entry: str, language: str) -> Iterator[str]:
    """The forms that an entry stands for; of one with more than 64 the first.

    Each begins with `WORD_START` where no letter may stand before it.
    """
    start = WORD_START if entry.startswith(WORD_START) else ""
    letters = entry.removeprefix(WORD_START)
    choices = [_choice(match, language) for match in _CHOICE.finditer(letters)]
    for form in islice(product(*choices), _MAX_FORMS):
        yield start + "".join(form)


def english_endings(word: str) -> Iterator[str]:
    """The word with the endings that English may give it; some of them are no words."""
    yield from (word + ending for ending in ("s", "es", "ed", "ing", "er", "est", "ly", "ness"))
    yield from (word + "'s", word + "s'")
    if word.endswith("e"):
        yield from (word + "d", word + "r", word + "st", word[:-1] + "ing")
    if word.endswith("y"):
        yield from (word[:-1] + ending for ending in ("ies", "ied", "ier", "iest", "ily", "iness"))
    elif word[-1:].isalpha():
        yield from (word + word[-1] + ending for ending in ("ed", "er", "est", "ing"))


def _choice(match: re.Match[str], language: str) -> tuple[str, ...]:
    many, maybe, one = match.groups()
    if many:
        return (*many, "") if maybe else tuple(many)
    return _SPACES[language] if one == " " else (one,)
