"""Words that may be misspelled, and which known words are near them.

Whether a word is known, only the one who has the vocabulary can say: `keyword_tokens` of it are
looked up there. Of Korean and Japanese see `language.spelling_variants`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from language.characters import CJK, KATAKANA
from language.normalise import fold
from language.tokens import keyword_tokens

_FEWEST, _FEWEST_FOR_TWO = 4, 7  # letters, for one edit and for two
_LONGEST = 40  # letters; what is longer is no word
_LONGEST_ENDING = 7  # letters that stemming takes off: organ(ization)
_LONGEST_RUN = 12  # characters of a Korean or Japanese word
_ENDING_COST = 0.25  # per letter that a stem leaves of the word
_VERY_SHORT, _SHORT, _RATHER_SHORT = 4, 5, 6  # letters
_SHARE_FOR_SHORT = 0.01  # of the passages
_UNLIKELY = 3  # slips: more than are allowed
_VOWELS = "aeiouy"
_ALIKE = (_VOWELS, "cskzqx", "fpv", "bv", "mn", "gj", "dt", "lr")
_LETTERS = rf"[^\W\d_{CJK}]+"
# A word that is joined to others or to digits is a name or an identifier: e-mail, v2, a.b, @kim.
_WORD = re.compile(
    rf"(?<![\w@#/\\.:'’-]){_LETTERS}(?![\w@#/\\:'’-]|\.\w)"
    r"|[가-힣]{2,}?(?=[은는을를이가의에로도와과]?(?![가-힣]))"
    rf"|[{KATAKANA}]{{4,}}"
)
_IS_CJK = re.compile(f"[{CJK}]")
_Costs = np.ndarray[Any, np.dtype[Any]]


class Script(Enum):
    """How a word is compared with others."""

    SPACED = 1
    HANGUL = 2
    KATAKANA = 3


class TypedWord(NamedTuple):
    """A word of a text that may be misspelled: `folded` is text[start:end] in one form.

    `may_be_name` is true of a word with a capital that does not begin the text.
    """

    start: int
    end: int
    folded: str
    script: Script
    may_be_name: bool = False


def words_to_check(text: str) -> Iterator[TypedWord]:
    """The words of the text that could be misspelled, in order.

    Left out are short ones, words without a search token, those in CAPITALS or mixed case, with
    digits, and parts of names such as paths. Of a text that is not in NFC there are none.
    """
    if not unicodedata.is_normalized("NFC", text):
        return
    for match in _WORD.finditer(text):
        word = match[0]
        if _IS_CJK.match(word):
            is_hangul = "가" <= word[0] <= "힣"
            if len(word) <= _LONGEST_RUN:
                script = Script.HANGUL if is_hangul else Script.KATAKANA
                yield TypedWord(match.start(), match.end(), word, script)
        elif _FEWEST <= len(word) <= _LONGEST and word[1:].islower() and keyword_tokens(word):
            is_name = word[0].isupper() and bool(text[: match.start()].strip())
            yield TypedWord(match.start(), match.end(), fold(word), Script.SPACED, is_name)


def slips_allowed(word: TypedWord) -> int:
    """How many slips a known word may be away from a spaced one: 1, or 2 from 7 letters on."""
    return 1 if len(word.folded) < _FEWEST_FOR_TWO or word.may_be_name else 2


def share_required(word: TypedWord) -> float:
    """In what share of the passages a known word must stand to be meant by a spaced one.

    Short words are near many others, of which only a common one is likely to be meant.
    """
    return _SHARE_FOR_SHORT if len(_singular(word.folded)) <= _RATHER_SHORT else 0.0


def slips_between(typed: str, known: str) -> int:
    """How many slips make the typed word of the known one; large where one is unlikely.

    A slip is two swapped letters, one left out, one too many, or one for another that sounds
    alike (the distance of Damerau and Levenshtein). Unlikely is another last letter, since
    "auditory" is not "auditor"; an "s" there does not count. So are a wrong consonant, and in
    short words one that is missing or too many: "viral" is not "vital", "chat" not "chart".
    """
    if typed[-2:] != known[-2:][::-1]:
        typed, known = _singular(typed), _singular(known)
        if typed[-1:] != known[-1:]:
            return _UNLIKELY * len(typed)
    return int(_slips(typed, [known])[-1, 0])


def _singular(word: str) -> str:
    return word.removesuffix("s")


def likely_beginnings(word: str) -> set[str]:
    """Two letters each, with which a known word may begin that a spaced one is meant to be.

    The first letter is right; of the second, a slip hardly ever leaves out or changes a consonant.
    """
    seconds = {
        *word[1:3],
        *_VOWELS,
        *(one for group in _ALIKE if word[1] in group for one in group),
    }
    return {word[0] + second for second in seconds}


def likely_stems(word: str, stems: Mapping[str, int], slips: int, limit: int) -> list[str]:
    """The stems of which a form may be at most that many slips away from the word.

    Args:
        word: Folded.
        stems: How often each occurs.
        slips: See `slips_allowed`.
        limit: At most this many are returned, the likeliest first.
    """
    shortest = max(3, len(word) - _LONGEST_ENDING)
    fitting = [one for one in stems if shortest <= len(one) <= len(word) + slips and one.isalpha()]
    if not fitting:
        return []
    # Its form may end otherwise than the stem: "policy" has the stem "polici".
    trunks = [stem.removesuffix("i") for stem in fitting]
    least = _slips(word, trunks).min(axis=0)
    costs = {
        stem: (away + _ENDING_COST * max(0, len(word) - len(stem)), -stems[stem])
        for stem, away in zip(fitting, least.tolist(), strict=True)
        if away <= slips
    }
    return sorted(costs, key=costs.__getitem__)[:limit]


def _slips(word: str, others: list[str]) -> _Costs:
    """The slips between each beginning of the word, from none of it on, and each of the others."""
    lengths = np.array([len(other) for other in others])
    letters = _matrix(others, int(lengths.max()))
    left_out = _costs_of_leaving_out(letters, len(word))
    rows = [left_out]
    for place, letter in enumerate(word):
        last, too_many = rows[-1], _cost_of_one_too_many(word, place)
        row = last + too_many
        alike = "".join(group for group in _ALIKE if letter in group and len(word) > _VERY_SHORT)
        row[1:] = np.minimum(row[1:], last[:-1] + _costs_of_replacing(letter, alike, letters))
        if place:
            swapped = (letters[1:] == ord(word[place - 1])) & (letters[:-1] == ord(letter))
            row[2:] = np.where(swapped, np.minimum(row[2:], rows[-2][:-2] + 1), row[2:])
        rows.append(np.minimum.accumulate(row - left_out, axis=0) + left_out)
    return np.array([row[lengths, np.arange(len(others))] for row in rows])


def _matrix(words: list[str], width: int) -> _Costs:
    """The letters as numbers, a word in each column, ended by zeros."""
    padded = "".join(word.ljust(width, "\0") for word in words)
    return np.array([padded]).view(np.uint32).reshape(len(words), width).T.astype(np.int32)


def _costs_of_leaving_out(letters: _Costs, length: int) -> _Costs:
    """What it costs to leave out the letters up to each place."""
    costs = np.ones(letters.shape, np.int16)
    if length <= _SHORT:
        is_likely = _is_any(letters, _VOWELS)
        is_likely[1:] |= letters[1:] == letters[:-1]
        costs[~is_likely] = _UNLIKELY
    return np.vstack([np.zeros((1, letters.shape[1]), np.int16), costs.cumsum(0, np.int16)])


def _cost_of_one_too_many(word: str, place: int) -> np.int16:
    neighbors = word[max(0, place - 1) : place] + word[place + 1 : place + 2]
    is_likely = word[place] in _VOWELS or word[place] in neighbors
    is_long = len(word) > _RATHER_SHORT + 1
    return np.int16(1 if is_long or (is_likely and len(word) > _VERY_SHORT) else _UNLIKELY)


def _costs_of_replacing(letter: str, alike: str, letters: _Costs) -> _Costs:
    costs = np.where(_is_any(letters, alike), np.int16(1), np.int16(_UNLIKELY))
    return np.where(letters == ord(letter), np.int16(0), costs)


def _is_any(letters: _Costs, alternatives: str) -> _Costs:
    found = np.zeros(letters.shape, bool)
    for letter in alternatives:
        found |= letters == ord(letter)
    return found


def splits(word: str) -> Iterator[str]:
    """The ways to make two words of one by a space that was left out."""
    for place in range(3, len(word) - 2):
        yield f"{word[:place]} {word[place:]}"
