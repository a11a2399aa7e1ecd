"""Finds words that may be misspelled, and measures how close they are to known words.

The caller has the vocabulary and looks up the `keyword_tokens` of a word in it. In this module, a
spaced word is one of a script that separates words by spaces; for Korean and Japanese words, see
`variants`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from domain.language.script import CJK, IS_CJK, KATAKANA, fold
from domain.language.tokens import keyword_tokens

_FEWEST, _FEWEST_FOR_TWO = 4, 7  # letters, for one edit and for two
_LONGEST = 40  # letters; a longer one is not a word
_LONGEST_ENDING = 7  # letters that stemming removes: organ(ization)
_LONGEST_RUN = 12  # characters of a Korean or Japanese word
_ENDING_COST = 0.25  # per letter of the word beyond the stem
_VERY_SHORT, _SHORT, _RATHER_SHORT = 4, 5, 6  # letters
_SHARE_FOR_SHORT = 0.01  # of the passages; see `share_required`
_UNLIKELY = 3  # typos: more than are allowed
_VOWELS = "aeiouy"
_ALIKE = (_VOWELS, "cskzqx", "fpv", "bv", "mn", "gj", "dt", "lr")
_LETTERS = rf"[^\W\d_{CJK}]+"
# A word joined to others or to digits is a name or an identifier: e-mail, v2, a.b, @kim.
_WORD = re.compile(
    rf"(?<![\w@#/\\.:'’-]){_LETTERS}(?![\w@#/\\:'’-]|\.\w)"
    r"|[가-힣]{2,}?(?=[은는을를이가의에로도와과]?(?![가-힣]))"
    rf"|[{KATAKANA}]{{4,}}"
)
_Costs = np.ndarray[Any, np.dtype[Any]]


class Script(Enum):
    """The script of a word, which determines how it is compared with others."""

    SPACED = 1
    HANGUL = 2
    KATAKANA = 3


class TypedWord(NamedTuple):
    """A word of a text that may be misspelled; `folded` is text[start:end] in normalized form.

    `may_be_name` is True for a capitalized word that is not at the start of the text.
    """

    start: int
    end: int
    folded: str
    script: Script
    may_be_name: bool = False


def words_to_check(text: str) -> Iterator[TypedWord]:
    """Yield the words of the text that may be misspelled, in order.

    Omits short words, words without a search token, words in CAPITALS or mixed case or with digits,
    and parts of names such as paths. Yields nothing for a text that is not in NFC.
    """
    if not unicodedata.is_normalized("NFC", text):
        return
    for match in _WORD.finditer(text):
        word = match[0]
        if IS_CJK.match(word):
            is_hangul = "가" <= word[0] <= "힣"
            if len(word) <= _LONGEST_RUN:
                script = Script.HANGUL if is_hangul else Script.KATAKANA
                yield TypedWord(match.start(), match.end(), word, script)
        elif _FEWEST <= len(word) <= _LONGEST and word[1:].islower() and keyword_tokens(word):
            is_name = word[0].isupper() and bool(text[: match.start()].strip())
            yield TypedWord(match.start(), match.end(), fold(word), Script.SPACED, is_name)


def max_typos(word: TypedWord) -> int:
    """The maximum number of typos in a spaced word: 1, or 2 from 7 letters on; 1 in a name."""
    return 1 if len(word.folded) < _FEWEST_FOR_TWO or word.may_be_name else 2


def share_required(word: TypedWord) -> float:
    """The share of passages that must contain a known word to suggest it for a spaced word.

    A short word is similar to many others, of which only common ones are likely to be meant.
    """
    return _SHARE_FOR_SHORT if len(_singular(word.folded)) <= _RATHER_SHORT else 0.0


def typos_between(typed: str, known: str) -> int:
    """The number of typos that turn the known word into the typed one; large if one is unlikely.

    A typo is two swapped letters, a missing letter, an extra letter, or a letter replaced by a
    similar-sounding one (Damerau-Levenshtein distance). Unlikely typos are a different last letter
    ("auditory" is not "auditor"), except for a final "s"; a wrong consonant ("viral" is not
    "vital"); and in short words, a missing or extra consonant ("chat" is not "chart").
    """
    if typed[-2:] != known[-2:][::-1]:
        typed, known = _singular(typed), _singular(known)
        if typed[-1:] != known[-1:]:
            return _UNLIKELY * len(typed)
    return int(_typos(typed, [known])[-1, 0])


def _singular(word: str) -> str:
    return word.removesuffix("s")


def likely_beginnings(word: str) -> set[str]:
    """The first two letters of known words of which a spaced word may be a misspelling.

    The first letter is assumed to be correct. Typos rarely omit or change a consonant in second
    position.
    """
    seconds = {
        *word[1:3],
        *_VOWELS,
        *(one for group in _ALIKE if word[1] in group for one in group),
    }
    return {word[0] + second for second in seconds}


def likely_stems(word: str, stems: Mapping[str, int], typos: int, limit: int) -> list[str]:
    """The stems with forms that may be at most `typos` typos away from the word, best first.

    Args:
        word: The folded word.
        stems: The known stems with their frequencies.
        typos: The maximum number of typos; see `max_typos`.
        limit: The maximum number of results.
    """
    shortest = max(3, len(word) - _LONGEST_ENDING)
    fitting = [one for one in stems if shortest <= len(one) <= len(word) + typos and one.isalpha()]
    if not fitting:
        return []
    # A form may have a different ending from its stem: "policy" has the stem "polici".
    trunks = [stem.removesuffix("i") for stem in fitting]
    least = _typos(word, trunks).min(axis=0)
    costs = {
        stem: (away + _ENDING_COST * max(0, len(word) - len(stem)), -stems[stem])
        for stem, away in zip(fitting, least.tolist(), strict=True)
        if away <= typos
    }
    return sorted(costs, key=costs.__getitem__)[:limit]


def _typos(word: str, others: list[str]) -> _Costs:
    """The typos between each prefix of the word, starting with "", and each of the other words."""
    lengths = np.array([len(other) for other in others])
    letters = _matrix(others, int(lengths.max()))
    omission_costs = _costs_of_leaving_out(letters, len(word))
    rows = [omission_costs]
    for place, letter in enumerate(word):
        last, too_many = rows[-1], _cost_of_one_too_many(word, place)
        row = last + too_many
        alike = "".join(group for group in _ALIKE if letter in group and len(word) > _VERY_SHORT)
        row[1:] = np.minimum(row[1:], last[:-1] + _costs_of_replacing(letter, alike, letters))
        if place:
            swapped = (letters[1:] == ord(word[place - 1])) & (letters[:-1] == ord(letter))
            row[2:] = np.where(swapped, np.minimum(row[2:], rows[-2][:-2] + 1), row[2:])
        rows.append(np.minimum.accumulate(row - omission_costs, axis=0) + omission_costs)
    return np.array([row[lengths, np.arange(len(others))] for row in rows])


def _matrix(words: list[str], width: int) -> _Costs:
    """The letters as code points, one word per column, padded with zeros."""
    padded = "".join(word.ljust(width, "\0") for word in words)
    return np.array([padded]).view(np.uint32).reshape(len(words), width).T.astype(np.int32)


def _costs_of_leaving_out(letters: _Costs, length: int) -> _Costs:
    """The cost of omitting all letters before each position."""
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
    mask = np.zeros(letters.shape, bool)
    for letter in alternatives:
        mask |= letters == ord(letter)
    return mask


def splits(word: str) -> Iterator[str]:
    """The ways to split a word in two, because a space may be missing."""
    for place in range(3, len(word) - 2):
        yield f"{word[:place]} {word[place:]}"


def variants(word: TypedWord) -> Iterator[str]:
    """Yield corrections of a Korean or Japanese word, assuming one likely typo.

    Korean: a jamo replaced by a similar-sounding one, or by any other well before the end of the
    word. The last syllable of a longer word is kept, because it is often an ending or a particle.
    Katakana: two swapped characters, an extra one, or a mark or small character that is missing or
    confused with another.
    """
    if word.script is Script.HANGUL:
        yield from _hangul_variants(word.folded)
    elif word.script is Script.KATAKANA:
        yield from _katakana_variants(word.folded)


# Indexes in Unicode order. Vowels: ae/e/yae/ye and oe/wae/we. Finals: pairs that sound alike.
_INITIALS, _MEDIALS, _FINALS = 19, 21, 28
_ALIKE_VOWELS = ((1, 5), (3, 7), (1, 3), (5, 7), (10, 11), (10, 15), (11, 15))
_ALIKE_FINALS = ((1, 2), (19, 20), (4, 5), (4, 6), (8, 15), (17, 18), (16, 10), (17, 26))
_WITH_ENDING_FROM = 3  # syllables


def _hangul_variants(word: str) -> Iterator[str]:
    for place, syllable in enumerate(word if len(word) < _WITH_ENDING_FROM else word[:-1]):
        for other in _near_syllables(syllable, is_any=0 < len(word) - _WITH_ENDING_FROM > place):
            yield word[:place] + other + word[place + 1 :]


def _near_syllables(syllable: str, *, is_any: bool) -> Iterator[str]:
    rest, final = divmod(ord(syllable) - 0xAC00, _FINALS)
    initial, vowel = divmod(rest, _MEDIALS)
    for one in _others(initial, range(_INITIALS), (), is_any=is_any):
        yield _syllable(one, vowel, final)
    for one in _others(vowel, range(_MEDIALS), _ALIKE_VOWELS, is_any=is_any):
        yield _syllable(initial, one, final)
    for one in _others(final, range(_FINALS), _ALIKE_FINALS, is_any=is_any):
        yield _syllable(initial, vowel, one)


def _others(
    jamo: int, every: range, alike: tuple[tuple[int, int], ...], *, is_any: bool
) -> list[int]:
    pairs = [pair for pair in alike if jamo in pair]
    return [one for one in every if one != jamo and (is_any or any(one in pair for pair in pairs))]


def _syllable(initial: int, vowel: int, final: int) -> str:
    return chr(0xAC00 + (initial * _MEDIALS + vowel) * _FINALS + final)


_PLAIN_KANA = "カキクケコサシスセソタチツテトハヒフヘホハヒフヘホバビブベボ"
_MARKED_KANA = "ガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポパピプペポ"
_SMALL_AND_ALIKE = "アァ イィ ウゥ エェ オォ ヤャ ユュ ヨョ ツッ シツ ソン イー エー ウー ィー"
_KANA_TYPOS = [
    *(plain + marked for plain, marked in zip(_PLAIN_KANA, _MARKED_KANA, strict=True)),
    *_SMALL_AND_ALIKE.split(),
]
_LEFT_OUT = "ーッン"


def _katakana_variants(word: str) -> Iterator[str]:
    for place, kana in enumerate(word):
        before, after = word[:place], word[place + 1 :]
        yield before + after
        if after:
            yield before + after[0] + kana + after[1:]
        yield from (before + kana + one + after for one in _LEFT_OUT)
        for pair in _KANA_TYPOS:
            if kana in pair:
                yield before + pair.replace(kana, "") + after
