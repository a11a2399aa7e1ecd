"""What a misspelled Korean or Japanese word may have been meant to be.

Its tokens are pairs of characters, and most of a misspelled word is found by those that are right.
So only likely slips are undone, and whether a variant is a word is for the vocabulary to say.
"""

from collections.abc import Iterator

from language.spelling import Script, TypedWord


def variants(word: TypedWord) -> Iterator[str]:
    """What a Korean or Japanese word with one likely slip may have been meant to be.

    Korean: a letter (jamo) that sounds alike, or any other one well before the word's end; the last
    syllable of a longer word stays, since it is often an ending or a particle.
    Katakana: two swapped, one too many, a mark or a small letter left out or confused.
    """
    if word.script is Script.HANGUL:
        yield from _hangul_variants(word.folded)
    elif word.script is Script.KATAKANA:
        yield from _katakana_variants(word.folded)


# Places in the order of Unicode. Vowels: ae/e/yae/ye, oe/wae/we. Finals that sound alike.
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
_SLIPS_OF_KANA = [
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
        for pair in _SLIPS_OF_KANA:
            if kana in pair:
                yield before + pair.replace(kana, "") + after
