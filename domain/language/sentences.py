"""Finds sentences of English, Korean, Japanese, and Chinese in Markdown and plain text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from domain.language.script import HANGUL, HIRAGANA, IS_CJK


class Block(NamedTuple):
    """A range of whole lines: a paragraph, a list item, or a single line such as a heading.

    `prose_start` is the position where its sentences start, after a list item's marker.
    """

    start: int
    end: int
    prose_start: int
    is_prose: bool


_LINE = re.compile("[^\n\r\f\u2028\u2029]*(?:\r\n|[\n\r\f\u2028\u2029]|$)")
_FENCE = re.compile(r"[ \t]*(```|~~~)(?!.*\1)")
_ALONE = re.compile(r"[ \t]{0,3}#{1,6}(?:\s|$)|\s*\||\s*(?:[-=*_][ \t]*){3,}$")
_BULLETS = "•・▪■□●○◆◇※▶"
# "・項目" is an item, but not "・・・そして" (an ellipsis), "○○商事" (a blank), or "３．５％".
_ITEM = re.compile(
    rf"\s*(?:(?:[-*+◦{_BULLETS}]|\d{{1,3}}[.)]|[a-z]\)|[가나다라마바사아자차카타파하][.)]"
    r"|\(\d{1,3}\))(?:\s+|$)"
    rf"|(?:[①-⑳]|(?:（\d{{1,3}}）|\d{{1,3}}）)(?![をにのはがとでも、。])|\d{{1,3}}．(?!\d)|[{_BULLETS}](?![{_BULLETS}]))\s*)"
)


def blocks(text: str) -> Iterator[Block]:
    """Yield blocks in order; together they cover every character that is not white space."""
    fence = ""
    start = prose_start = -1
    for match in _LINE.finditer(text):
        line, (at, end) = match.group(), match.span()
        opening = _FENCE.match(line)
        in_code = bool(fence) or opening is not None
        if opening is not None:
            fence = opening.group(1) if not fence else fence.replace(opening.group(1), "")
        item = None if in_code else _ITEM.match(line)
        alone = in_code or _ALONE.match(line) is not None
        if start >= 0 and (alone or item or not line.strip()):
            yield Block(start, at, prose_start, is_prose=True)
            start = -1
        if alone and line.strip():
            yield Block(at, end, at, is_prose=False)
        elif start < 0 and line.strip():
            start, prose_start = at, at + (item.end() if item else 0)
    if start >= 0:
        yield Block(start, len(text), prose_start, is_prose=True)


MAX_CHARS = 600
"""Longer sentences are cut at the end of a clause, or else at a space, or else at this length."""

_CLOSERS = "\"'”’)\\]）」』】〉》＂＇"
# "**Is it open?** Yes.": closing emphasis marks belong to the sentence too.
_EMPHASIS_END = rf"[*_]{{1,3}}(?=[\s{_CLOSERS}]|\Z)"
_END = re.compile(rf"(?:[.!?…]+|[。！？｡．]+)(?:[{_CLOSERS}]|{_EMPHASIS_END})*")
# "다.그리고": a Korean sentence ends here even without a space.
_KOREAN_ENDING = re.compile(r"[다요죠까니오음함임됨]$")
# 「はい。」と言った, "간다."라고 했다: the sentence continues after the closing mark.
_GOES_ON = re.compile(rf"[{HIRAGANA}{HANGUL}、，,・]")
_LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
_ABBREVIATIONS = """
mr mrs ms dr prof st vs no nos fig figs eq eqs sec ch vol pp approx ca cf e.g i.e eg ie al dept est
min max jan feb mar apr jun jul aug sep sept oct nov dec mt rev gen col sgt capt resp incl excl ext
tel
"""
_NOT_AN_END = frozenset(_ABBREVIATIONS.split())
# Also words or units that end sentences: "I say no." but "No. 5", "500 Rs." but "Rs. 500".
_BEFORE_NUMBERS = frozenset(["no", "p", "rs", "art", "arts", "para", "paras", "fax", "rm"])
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_MONTH = r"(?:1[0-2]|0?[1-9])\."
_DAY = r"\s{0,3}(?:3[01]|[12]\d|0?[1-9])\."
# The Korean forms "2025. 3. 1.", "2025. 3.", "'25. 3.", "25. 3. 1.", and, in "3. 1.부터", "3. 1.".
_DATE = re.compile(
    rf"(?<![\d.])(?:(?:\d{{4}}|['’]\d\d)\.\s{{0,3}}{_MONTH}(?:{_DAY})?(?!\d)"
    rf"|\d\d\.\s{{0,3}}{_MONTH}{_DAY}(?!\d)|{_MONTH}{_DAY}(?=[{HANGUL}(]))"
)
_MAX_DATE = 20
# What shows that a date was the end of its sentence: "다만, ..." or "The rule ...".
_NEW_SENTENCE = re.compile(
    r"\s+[\"“‘(*_]{0,3}(?:[A-Z][a-z'’]{0,20},?\s[A-Za-z]|다만|단,|또한|그러나|그리고|따라서|하지만)"
)
_CLAUSE_END = re.compile(r"[、，；：,;:]\s*|\s+")
_PAIRS = dict(zip("(（「『【〈《“[", ")）」』】〉》”]", strict=True))
_BRACKETS = re.compile("[" + re.escape("".join(_PAIRS) + "".join(_PAIRS.values())) + "]")
_MAX_ASIDE = 200


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The spans of the text's sentences in order, without surrounding white space.

    The spans don't overlap: every character that is not white space is in exactly one of them.
    Headings, table rows, lines of code, and list items are separate sentences. Blank lines end a
    sentence; line breaks in wrapped text do not. No span is longer than `MAX_CHARS`.
    """
    spans: list[tuple[int, int]] = []
    for block in blocks(text):
        for start, end in _sentences(text, block):
            spans.extend(_cut(text, start, end))
    return spans


def _sentences(text: str, block: Block) -> Iterator[tuple[int, int]]:
    start = block.start
    if block.is_prose:
        asides = _asides(text, block)
        for match in _END.finditer(text, block.prose_start, block.end):
            while asides and asides[-1][1] <= match.end():
                asides.pop()
            inside = bool(asides) and asides[-1][0] < match.end()
            if not inside and _ends_sentence(text, match, block.end):
                yield start, match.end()
                start = match.end()
    yield start, block.end


def _asides(text: str, block: Block) -> list[tuple[int, int]]:
    """Spans of brackets and quotations, within which no sentence ends, last first."""
    spans: list[tuple[int, int]] = []
    open_marks: list[tuple[str, int]] = []
    for match in _BRACKETS.finditer(text, block.start, block.end):
        mark, at = match.group(), match.start()
        if mark in _PAIRS:
            open_marks.append((_PAIRS[mark], at))
        elif open_marks and open_marks[-1][0] == mark:
            start = open_marks.pop()[1]
            if at + 1 - start <= _MAX_ASIDE:
                while spans and spans[-1][0] > start:
                    spans.pop()
                spans.append((start, at + 1))
    spans.reverse()
    return spans


def _ends_sentence(text: str, match: re.Match[str], end: int) -> bool:
    if match.end() >= end:
        return True
    marks, after = match.group(), text[match.end()]
    if marks[0] in "。！？｡．":
        if marks == "．" and after.isdecimal():
            return not text[max(0, match.start() - 1)].isdecimal()
        return not (marks[-1] in _CLOSERS and _GOES_ON.match(after))
    if not after.isspace():
        before = text[max(0, match.start() - 1) : match.start()]
        return bool(_KOREAN_ENDING.match(before) and IS_CJK.match(after)) and len(marks) == 1
    return _latin_end(text, match, end)


def _latin_end(text: str, match: re.Match[str], end: int) -> bool:
    after = _next_letter(text, match.end(), end)
    if after.islower():
        return False
    if match.group().rstrip("*_") != ".":
        return True
    word = _LAST_WORD.search(text, max(0, match.start() - 24), match.start())
    if word is None:
        return True
    last = word.group()
    if last[-1].isdecimal():
        return _ends_after_number(text, match.start(), end)
    if last.casefold() in _BEFORE_NUMBERS and last != "P":  # as in "Samuel P. Huntington"
        return not after.isdigit()
    if last.casefold() in _NOT_AN_END or _DOTTED.fullmatch(last):
        return last.casefold() in ("a.m", "p.m") and after.isupper()
    return not (len(last) == 1 and last.isupper() and last.isascii() and last != "I")


def _ends_after_number(text: str, at: int, end: int) -> bool:
    """Whether the dot at `at` ends a sentence, unlike the dots of a date."""
    for date in _DATE.finditer(text, max(0, at - _MAX_DATE), min(end, at + _MAX_DATE)):
        if date.start() < at < date.end():
            return at + 1 == date.end() and _NEW_SENTENCE.match(text, at + 1, end) is not None
    return True


def _next_letter(text: str, start: int, end: int) -> str:
    for at in range(start, min(end, start + 8)):
        if not text[at].isspace() and text[at] not in "\"'“‘(*_":
            return text[at]
    return ""


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without surrounding white space, in pieces of at most `MAX_CHARS`."""
    while True:
        while start < end and text[start].isspace():
            start += 1
        if end - start <= MAX_CHARS:
            break
        stop = _clause_end(text, start)
        yield start, start + len(text[start:stop].rstrip())
        start = stop
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _clause_end(text: str, start: int) -> int:
    """Where to cut a long piece: in its second half, after the last clause, or else at a space."""
    stop = start + MAX_CHARS
    best = {True: 0, False: 0}
    for match in _CLAUSE_END.finditer(text, start + MAX_CHARS // 2, stop):
        best[match.group().isspace()] = match.end()
    return best[False] or best[True] or stop
