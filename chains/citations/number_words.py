"""Numbers from 1 to 99 that a text contains as English words."""

import re
from collections.abc import Sequence, Set

_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES: dict[str, int] = dict(
    zip(
        (*_UNITS, *_TEENS, "eighteen", "nineteen", *_TENS),
        (*range(1, 20), *range(20, 100, 10)),
        strict=True,
    )
)
_OTHERS = (
    r"(?:hundred|thousand|million|billion|trillion|dozen)(?:th)?s?|point|half|halves|quarters?|first"
    r"|seconds?|thirds?|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|(?:thir|four|fif|six|seven"
    r"|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)tie)ths?"
)
"""Words after which a number is an ordinal, a fraction, or larger than 99."""
_WORD = rf"(?:{'|'.join(_VALUES)}|{_OTHERS})\b"
_GAP = r"[\s\-\u2010\u2011]+"
_NUMBER = re.compile(rf"\b{_WORD}(?:{_GAP}(?:and\s+)?(?:an?\s+)?{_WORD})*")
_WORDS = re.compile(r"\w+")


def word_numbers(text: str) -> Set[str]:
    """The numbers in digits; *two hundred*, *twenty-first*, and *two and a half* are none."""
    matches = _NUMBER.findall(text.lower())
    values = (_value(_WORDS.findall(match)) for match in matches)
    return frozenset(str(value) for value in values if value)


def _value(words: Sequence[str]) -> int:
    """The value of the words of one number; 0 if it is not one from 1 to 99."""
    match words:
        case [word]:
            return _VALUES.get(word, 0)
        case [tens, unit] if tens in _TENS and unit in _UNITS:
            return _VALUES[tens] + _VALUES[unit]
    return 0
