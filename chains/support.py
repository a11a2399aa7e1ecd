"""Which sentence of a passage supports a statement that gives no quote, as far as words tell."""

import re
import unicodedata
from collections.abc import Set
from itertools import pairwise

from language.characters import CJK
from language.sentences import split_sentences
from language.tokens import content_tokens

ENOUGH = 0.5
"""The part of the statement's words that its evidence must hold."""
WITH_NEIGHBOUR = 0.25
"""How much more two sentences must hold than the better one alone to be quoted together."""
_CONTEXT_WEIGHT = 0.5
_MIN_SHARED = 2

_Span = tuple[int, int]
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_LIST_NUMBER = re.compile(
    r"^\s*(?:[-*+]\s+)?[*_]{0,3}(?:[①-⑳]|\(\d{1,3}\)"
    r"|(?:(?:step|단계|手順|ステップ)\s*)?\d{1,3}(?:단계)?(?:[.):][*_]{0,3}\s+|：))",
    re.IGNORECASE,
)
_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_WORTH = dict(zip(_WORDS.split(), (*range(1, 21), *range(30, 100, 10)), strict=True))
_WORD = re.compile(rf"\b(?:{'|'.join(_WORTH)})\b", re.IGNORECASE)
_BOUND = re.compile(
    r"\b(?:no|not) (?:more|less|fewer|later|earlier|only|longer) ?(?:than)?\b", re.IGNORECASE
)
_ENGLISH_NEGATION = re.compile(
    r"(?:\b(?:not|never|no|cannot|without)|n['’]t)\b(?:\s+(?:be|been|to|get|have|yet|the|a|any))*",
    re.IGNORECASE,
)
_FINAL_NEGATION = re.compile(
    r"(?:않|없|못|아니|아닙|불가|금지|ない|なかった|ません|なし|不可|禁止)[^없않못]{0,8}$"
)
_HEADING = re.compile(r"\s*#{1,6}\s")
_NEW_BLOCK = re.compile(r"[ \t]*\n(?:[ \t]*\n|\s*(?:[-*+•#|>]|\d{1,3}[.)])\s?)")
_IS_CJK = re.compile(f"[{CJK}]")


def find_support(statement: str, passage: str, headings: str = "") -> _Span | None:
    """The span of the one or two sentences of the passage that support the statement best.

    They must hold half of the statement's words (words that only `headings` or the header of
    their table hold count half), every number in it, and negate what it negates and nothing
    else. Nor may a sentence that fits the words better say otherwise. Two languages share no
    words: a Korean statement finds no support in an English passage.
    """
    claim = _LIST_NUMBER.sub("", statement)
    wanted = frozenset(content_tokens(claim))
    if not wanted:
        return None
    around = frozenset(content_tokens(headings))
    best: tuple[float, _Span | None] = 0.0, None
    for span, header, handicap in _stretches(passage):
        text = passage[slice(*span)]
        if _HEADING.match(text):
            continue  # it says what follows, and nothing of its own
        held = _held(wanted, frozenset(content_tokens(text)), around | header)
        agrees = numbers(claim) <= numbers(text) and not _contradicts(claim, text)
        otherwise = not agrees and not handicap and _contrasts(claim, text)
        if held - handicap > best[0] and (agrees or otherwise):
            best = held - handicap, span if agrees and held >= ENOUGH else None
    return best[1]


def numbers(text: str) -> Set[str]:
    """The numbers written in digits, without thousands separators."""
    normal = unicodedata.normalize("NFKC", text)
    return frozenset(_THOUSANDS.sub("", match) for match in _NUMBER.findall(normal))


def holds_numbers(statement: str, evidence: str) -> bool:
    """Whether the evidence says each number of the statement, in digits or an English word.

    Hours and minutes, days and months count each for itself, leading zeros not at all; the
    number of a list item is none.
    """
    spelt = {str(_WORTH[word.lower()]) for word in _WORD.findall(evidence)}
    return _figures(_LIST_NUMBER.sub("", statement)) <= _figures(evidence) | spelt


def _figures(text: str) -> Set[str]:
    parts = {part.lstrip("0") for number in numbers(text) for part in re.split("[:/]", number)}
    return parts - {""}


def _stretches(passage: str) -> list[tuple[_Span, Set[str], float]]:
    """The sentences, then pairs of neighbours: span, words of the table header, handicap."""
    spans = split_sentences(passage)
    found: list[tuple[_Span, Set[str], float]] = []
    header: Set[str] | None = None
    for start, end in spans:
        is_row = passage.startswith("|", start)
        found.append(((start, end), (header or frozenset()) if is_row else frozenset(), 0.0))
        if not is_row:
            header = None
        elif header is None:
            header = frozenset(content_tokens(passage[start:end]))
    for one, other in pairwise(spans):
        # Two items of a list, or two rows, say two things.
        if not _NEW_BLOCK.match(passage, one[1]):
            found.append(((one[0], other[1]), frozenset(), WITH_NEIGHBOUR))
    return found


def _held(wanted: Set[str], tokens: Set[str], around: Set[str]) -> float:
    """The part of the words held, numbers aside, unless there is nothing else."""
    if len(wanted & tokens) < min(_MIN_SHARED, len(wanted)):
        return 0.0
    words = frozenset(token for token in wanted if not token.isdecimal()) or wanted
    only_around = (words - tokens) & around
    return (len(words & tokens) + _CONTEXT_WEIGHT * len(only_around)) / (len(words) or 1)


def _contrasts(claim: str, evidence: str) -> bool:
    """Whether what does not agree says another number, or the contrary."""
    return bool(numbers(claim) and numbers(evidence)) or _contradicts(claim, evidence)


def _contradicts(claim: str, evidence: str) -> bool:
    """Whether one of the two negates what the other states."""
    if _IS_CJK.search(claim):
        return bool(_FINAL_NEGATION.search(_end(claim))) != bool(
            _FINAL_NEGATION.search(_end(evidence))
        )
    denied, denied_there = _denied(claim), _denied(evidence)
    stated = frozenset(content_tokens(claim)) - denied
    stated_there = frozenset(content_tokens(evidence)) - denied_there
    return bool(denied & stated_there or denied_there & stated)


def _end(text: str) -> str:
    return text.rstrip(" \t\n.。!?*_|)」』”\"'")[-16:]


def _denied(text: str) -> Set[str]:
    """The first content word after each negation."""
    plain = _BOUND.sub(" ", text)
    following = (
        plain[match.end() : match.end() + 60] for match in _ENGLISH_NEGATION.finditer(plain)
    )
    return frozenset(token for rest in following for token in content_tokens(rest)[:1])
