"""Numbers of list items in the formats that Word has for them (ECMA-376, Part 1, 17.18.59)."""

from collections.abc import Callable, Mapping
from functools import partial

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_AIUEO = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマ"
    "ケフコエテアサキユメミシヱヒモセスン"
)
_CIRCLES = "".join(map(chr, range(0x2460, 0x2474)))
_PARENTHESES = "".join(map(chr, range(0x2474, 0x2488)))
_KANJI, _HANGUL = "〇一二三四五六七八九", "영일이삼사오육칠팔구"
_MAX_LETTERS = 30


def format_number(number: int, form: str) -> str:
    """Format a number in Word's format of this name; in decimal if the format is unknown.

    "" for the formats without a number: none, and bullets.
    """
    return _FORMATS[form](number) if form in _FORMATS else str(number)


def _none(_number: int) -> str:
    return ""


def _zero(number: int) -> str:
    return f"{number:02}"


def _letter(number: int) -> str:
    """A to z, then aa, bb, and so on; in decimal after 30 letters."""
    repeated = (number - 1) // 26 + 1
    if not 0 < repeated <= _MAX_LETTERS:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * repeated


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    text = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        text += letters * count
    return text


def _upper(form: Callable[[int], str], number: int) -> str:
    return form(number).upper()


def _listed(signs: str, number: int) -> str:
    """The sign with this number; in decimal after the last one."""
    return signs[number - 1] if 0 < number <= len(signs) else str(number)


def _digits(digits: str, number: int) -> str:
    return "".join(digits[int(digit)] for digit in str(number))


def _counting(digits: str, ten: str, number: int) -> str:
    """As it is spoken: 十一 for 11; in decimal above 99."""
    if not 0 < number < 100:
        return str(number)
    tens, units = divmod(number, 10)
    before = f"{digits[tens] if tens > 1 else ''}{ten}" if tens else ""
    return before + (digits[units] if units else "")


_kanji_counting = partial(_counting, _KANJI, "十")
_FORMATS: Mapping[str, Callable[[int], str]] = {
    "none": _none,
    "bullet": _none,
    "decimalZero": _zero,
    "lowerLetter": _letter,
    "upperLetter": partial(_upper, _letter),
    "lowerRoman": _roman,
    "upperRoman": partial(_upper, _roman),
    "ganada": partial(_listed, _GANADA),
    "chosung": partial(_listed, _CHOSUNG),
    "koreanDigital": partial(_digits, _HANGUL),
    "koreanCounting": partial(_counting, _HANGUL, "십"),
    "aiueo": partial(_listed, _AIUEO),
    "aiueoFullWidth": partial(_listed, _AIUEO),
    "iroha": partial(_listed, _IROHA),
    "irohaFullWidth": partial(_listed, _IROHA),
    "japaneseCounting": _kanji_counting,
    "chineseCounting": _kanji_counting,
    "chineseCountingThousand": _kanji_counting,
    "ideographDigital": partial(_digits, _KANJI),
    "decimalFullWidth": partial(_digits, "０１２３４５６７８９"),
    "decimalFullWidth2": partial(_digits, "０１２３４５６７８９"),
    "decimalEnclosedCircle": partial(_listed, _CIRCLES),
    "decimalEnclosedParen": partial(_listed, _PARENTHESES),
}
