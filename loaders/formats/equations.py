"""The notation of equations in one line: a/b, a^b, a_b, √(a), similar to "UnicodeMath".

UnicodeMath is Unicode Technical Note 28. Within a text, noncharacters mark the edges of equations
and their parts, until `join_equations` replaces them by spaces where two numbers or names would
otherwise become one.
"""

import re

OPEN, CLOSE, WORD, END = "\ufdd2", "\ufdd3", "\ufdd4", "\ufdd5"
_EDGES = re.compile(f"[{OPEN}{CLOSE}{WORD}{END}]+")
_LETTER = "0-9A-Za-z\u0370-\u03ff\U0001d400-\U0001d7ff"
"""Characters of numbers and names, without those of Korean and Japanese words next to equations."""
_OPERATOR = "√∛∜∑∏∫"
_GAPS = (
    (OPEN, re.compile(rf"[{_LETTER}][\d_]")),  # 1 1/2
    (CLOSE, re.compile(rf".[{_LETTER}({_OPERATOR}]")),  # x^2 y
    (WORD, re.compile(rf"[{_LETTER}][{_LETTER}{_OPERATOR}]")),  # sin x
    (END, re.compile(r"\d\d")),
)
"""By edge, the characters before and after it between which there is a space."""
_OPERAND = re.compile(r"[^\W_]+(?:[.,]\d+)*|\W|\([^()]*\)|[\[{|][^\[\]{}|]*[\]}|]")
_SIGNS = {"∘": "°", "°": "°", "′": "′", "″": "″", "‴": "‴", "'": "′"}
"""Signs that are written without ^ although they are above the line: degrees and primes."""
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def join_equations(text: str) -> str:
    """The text with spaces at the edges of equations and of their parts where they are needed."""
    return _EDGES.sub(_gap, text)


def _gap(match: re.Match[str]) -> str:
    start, end = match.span()
    around = match.string[start - 1 : start] + match.string[end : end + 1] if start else ""
    is_needed = any(gap.match(around) for edge, gap in _GAPS if edge in match[0])
    return " " if is_needed else ""


def whole(text: str) -> str:
    """The text as a part of an equation with edges."""
    return f"{OPEN}{text}{CLOSE}"


def group(text: str) -> str:
    """The text as one operand, in parentheses if it has several parts."""
    return text if not text or _OPERAND.fullmatch(text) else f"({text})"


def fraction(numerator: str, denominator: str, bar: str = "/") -> str:
    """A fraction; with another bar, something else that is written one above the other."""
    return whole(f"{group(numerator)}{bar}{group(denominator)}")


def power(base: str, above: str) -> str:
    """A base with an exponent, or with a limit above it."""
    return script(base, "", above)


def script(base: str, below: str, above: str = "") -> str:
    """A base with an index, an exponent, or both; "" omits one."""
    marks = _index_and_power(below, above)
    return whole(f"{group(base)}{marks}") if base else f"{marks}{CLOSE}"


def prescript(below: str, above: str, base: str) -> str:
    """A base with an index and an exponent before it."""
    return whole(f"{_index_and_power(below, above)} {base}")


def _index_and_power(below: str, above: str) -> str:
    index = f"_{group(below)}" if below else ""
    power = f"^{group(above)}" if above else ""
    return index + (_SIGNS.get(above) or power)


def root(radicand: str, degree: str) -> str:
    """A square root if the degree is ""."""
    sign = _ROOTS.get(degree)
    return f"{sign}({radicand})" if sign else f"√({degree}&{radicand})"
