"""Finds the claims of an answer, and the sentences of a passage that support them."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Set
from functools import cached_property
from itertools import pairwise

from chains.citations.number_words import word_numbers
from chains.citations.visible_text import shown
from domain.language.script import IS_CJK
from domain.language.sentences import split_sentences
from domain.language.tokens import content_tokens

_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_HEADING_LINE = re.compile(r"\s*#{1,6}\s|\s*(\*\*|__)[^*_]+\1\s*$")
_CLOSERS = "\"'”’)*_」』）"
_NO_CLAIM_ENDS = (":", "：", "?", "？")
_TABLE_RULE = re.compile(r"[|:\-\s]+")
_MATERIAL = r"(?:sources?|documents?|passages?|excerpts?|materials?)"
_ANSWERS = (
    r"(?:answer|address|contain|cover|describ|includ|inform|mention|provid|sa(?:y|id)|specif|stat)"
)
_ADMITS_NO_ANSWER = re.compile(
    rf"\b(?:I|we)\b.{{0,20}}(?:\bnot|n['’]t|nnot) (?:find|answer|know|determine|tell)\b"
    rf"|\b(?:I|we) found no(?:thing)?\b|\bno (?:information|mention)\b.{{0,60}}\b{_MATERIAL}\b"
    rf"|\b{_MATERIAL}\b.{{0,40}}(?:\bno|\bnot|n['’]t|\bnothing)\b.{{0,20}}\b{_ANSWERS}"
    rf"|\b{_MATERIAL}\b.{{0,40}}\b(?:leaves? open|silent)\b"
    rf"|(?:\bnot|n['’]t) (?:found|{_ANSWERS}\w*) (?:in|by) .{{0,30}}\b{_MATERIAL}\b"
    r"|(?:찾을 수(?:가)? 없|찾지 못|있지 않|언급되지 않|명시되지 않|기재되지 않|(?:확인|답)할 수 없"
    r"|(?:정보|내용|언급|설명)[이가은는]? ?없)\w{0,5}\W*$"
    r"|(?:見つかりません|見つけられ|[分わ]かりません|答えられ|書かれていません|されていません"
    r"|(?:記載|言及|記述|情報|説明)[がはも](?:ありません|ない|なく))\w{0,6}\W*$",
    re.IGNORECASE,
)
_QUOTATION_END = re.compile(r"(?P<mark>[”\"」』»])[\s.,;:。、]*\Z")
_OPENERS = {"”": "“„", '"': '"“', "」": "「", "』": "『", "»": "«"}
_MIN_WORDS = 2
_MAX_QUOTATION = 1_500


class Statements:
    """The sentences of an answer without its markers."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self.spans = split_sentences(answer)

    def cited_by(self, at: int) -> int | None:
        """The index of the sentence that a marker at `at` belongs to.

        That is the sentence that contains it or directly precedes it, or the following sentence if
        the marker is at the beginning of a line.
        """
        index = bisect_left([start for start, _ in self.spans], at) - 1
        behind = index >= 0 and "\n" not in self._answer[self.spans[index][1] : at]
        line = self._answer[at:].partition("\n")[0]
        if not behind and line.strip() and index + 1 < len(self.spans):
            return index + 1
        return index if index >= 0 else None

    def statement(self, index: int, after: int, at: int, until: int) -> str:
        """The statement that a marker at `at` supports: its sentence since the previous marker.

        If that is too short, the text up to the next marker is added.
        """
        start, end = self.spans[index]
        part = self._answer[max(start, after) : at] if at > start else ""
        if len(content_tokens(part)) >= _MIN_WORDS:
            return part
        return self._answer[max(start, min(after, at)) : max(start, min(end, until))]

    @cached_property
    def claims(self) -> list[int]:
        """The indices of the sentences that make a claim and therefore need a citation."""
        code = [match.span() for match in _FENCED.finditer(self._answer)]
        return [
            index
            for index, (start, end) in enumerate(self.spans)
            if not any(begin <= start < finish for begin, finish in code)
            and not self._is_table_header(index)
            and _makes_claim(self._answer[start:end])
        ]

    def _is_table_header(self, index: int) -> bool:
        following = self.spans[index + 1 : index + 2]
        rules = [self._answer[start:end] for start, end in following]
        return any("|" in rule and "-" in rule and _TABLE_RULE.fullmatch(rule) for rule in rules)


def _makes_claim(sentence: str) -> bool:
    if _HEADING_LINE.match(sentence) or sentence.rstrip(_CLOSERS).endswith(_NO_CLAIM_ENDS):
        return False
    return len(content_tokens(sentence)) >= _MIN_WORDS and not _ADMITS_NO_ANSWER.search(sentence)


def quotation_before(answer: str, at: int, floor: int) -> tuple[int, int] | None:
    """The span of the quotation that closes directly before `at` and opens after `floor`."""
    floor = max(floor, at - _MAX_QUOTATION, answer.rfind("\n\n", 0, at) + 1)
    end = _QUOTATION_END.search(answer, floor, at)
    if end is None:
        return None
    mark, depth = end["mark"], 0
    for position in range(end.start() - 1, floor - 1, -1):
        character = answer[position]
        if character in _OPENERS[mark]:
            if depth == 0:
                return position + 1, end.start()
            depth -= 1
        elif character == mark:
            depth += 1
    return None


def admits_no_answer(answer: str) -> bool:
    """Whether the answer says that the passages do not answer the question, and claims nothing."""
    statements = Statements(answer)
    sentences = (answer[start:end] for start, end in statements.spans)
    return not statements.claims and any(map(_ADMITS_NO_ANSWER.search, sentences))


ENOUGH = 0.5
"""The minimum share of the statement's words that the evidence must contain."""
PAIR_HANDICAP = 0.25
"""Two sentences are quoted together only if their share exceeds that of a single one by this."""
_CONTEXT_WEIGHT = 0.5
_MIN_SHARED = 2

_Span = tuple[int, int]
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_POINTS = ".,:/․︐︓﹐﹒﹕，．／："  # NFKC makes each of the others one of the first four
_DIGITS = re.compile(rf"[\d{_POINTS}]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_LIST_NUMBER = re.compile(
    r"^\s*(?:[-*+]\s+)?[*_]{0,3}(?:[①-⑳]|\(\d{1,3}\)"
    r"|(?:(?:step|단계|手順|ステップ)\s*)?\d{1,3}(?:단계)?(?:[.):][*_]{0,3}\s+|：))",
    re.IGNORECASE,
)
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


def find_support(statement: str, passage: str, headings: str = "") -> _Span | None:
    """The span of the one or two sentences of the passage that best support the statement.

    They must contain half of its words (words found only in `headings` or in the header of their
    table count half), all of its numbers (09:30 counts as 9:30, and *seven* as 7), and the same
    negations. There is no support if a sentence with more of the words contradicts the statement.
    There is none across languages, which share no words, such as for a Korean statement and an
    English passage.
    """
    claim = _LIST_NUMBER.sub("", statement)
    claim_tokens = frozenset(content_tokens(claim))
    if not claim_tokens:
        return None
    around = frozenset(content_tokens(headings))
    best: tuple[float, _Span | None] = 0.0, None
    for span, header, handicap in _candidate_spans(passage):
        text = passage[slice(*span)]
        if _HEADING.match(text):
            continue  # a heading states nothing
        covered = _coverage(claim_tokens, frozenset(content_tokens(text)), around | header)
        agrees = _has_numbers(claim, text) and not _contradicts(claim, text)
        otherwise = not agrees and not handicap and _contrasts(claim, text)
        if covered - handicap > best[0] and (agrees or otherwise):
            best = covered - handicap, span if agrees and covered >= ENOUGH else None
    return best[1]


def _has_numbers(claim: str, evidence: str) -> bool:
    """Whether the evidence has all numbers of the claim: 9:30 also as 09:30, and 7 as *seven*.

    *One* is no number here, because it has other meanings.
    """
    missing = _without_zeros(numbers(claim)) - _without_zeros(numbers(evidence))
    return missing <= word_numbers(evidence) - {"1"}


def _without_zeros(numbers: Set[str]) -> Set[str]:
    """The numbers without leading zeros of hours, days, and months: 09:05 as 9:05, but not 9:5."""
    return frozenset(map(_without_zero, numbers))


def _without_zero(number: str) -> str:
    if "/" in number:
        return "/".join(part.lstrip("0") for part in number.split("/"))
    return number.lstrip("0") if ":" in number else number


def numbers(text: str) -> Set[str]:
    """The numbers written in digits, without thousands separators.

    Superscripts, fractions, and numbers in circles are separate: 10² is 10 and 2, but not 102.
    """
    normal = unicodedata.normalize("NFKC", _DIGITS.sub(r" \g<0> ", text))
    return frozenset(_THOUSANDS.sub("", match) for match in _NUMBER.findall(normal))


def contains_numbers(statement: str, evidence: str) -> bool:
    """Whether the evidence contains each number of the statement, in digits or as an English word.

    The parts of times and dates are compared separately and without leading zeros. The number of
    a list item is ignored. The evidence is read as stored and as displayed: `**1**.5` contains 1.5.
    """
    figures = _figures(_LIST_NUMBER.sub("", statement))
    missing = figures - _figures(evidence) - word_numbers(evidence)
    return not missing or missing <= _figures(shown(evidence))


def _figures(text: str) -> Set[str]:
    parts = {part.lstrip("0") for number in numbers(text) for part in re.split("[:/]", number)}
    return parts - {""}


def _candidate_spans(passage: str) -> list[tuple[_Span, Set[str], float]]:
    """Sentences, then pairs of neighbors, each as span, words of the table header, and handicap."""
    spans = split_sentences(passage)
    candidates: list[tuple[_Span, Set[str], float]] = []
    header: Set[str] | None = None
    for start, end in spans:
        is_row = passage.startswith("|", start)
        candidates.append(((start, end), (header or frozenset()) if is_row else frozenset(), 0.0))
        if not is_row:
            header = None
        elif header is None:
            header = frozenset(content_tokens(passage[start:end]))
    for one, other in pairwise(spans):
        # Two list items or rows are separate statements.
        if not _NEW_BLOCK.match(passage, one[1]):
            candidates.append(((one[0], other[1]), frozenset(), PAIR_HANDICAP))
    return candidates


def _coverage(claim_tokens: Set[str], tokens: Set[str], around: Set[str]) -> float:
    """The share of the claim's words that is covered; numbers count only if there are no words."""
    if len(claim_tokens & tokens) < min(_MIN_SHARED, len(claim_tokens)):
        return 0.0
    words = frozenset(token for token in claim_tokens if not token.isdecimal()) or claim_tokens
    only_around = (words - tokens) & around
    return (len(words & tokens) + _CONTEXT_WEIGHT * len(only_around)) / (len(words) or 1)


def _contrasts(claim: str, evidence: str) -> bool:
    """Whether evidence that does not agree has other numbers or contradicts the claim."""
    return bool(numbers(claim) and numbers(evidence)) or _contradicts(claim, evidence)


def _contradicts(claim: str, evidence: str) -> bool:
    """Whether either text negates a statement of the other."""
    if IS_CJK.search(claim):
        return bool(_FINAL_NEGATION.search(_end(claim))) != bool(
            _FINAL_NEGATION.search(_end(evidence))
        )
    negated, evidence_negated = _negated_words(claim), _negated_words(evidence)
    asserted = frozenset(content_tokens(claim)) - negated
    evidence_asserted = frozenset(content_tokens(evidence)) - evidence_negated
    return bool(negated & evidence_asserted or evidence_negated & asserted)


def _end(text: str) -> str:
    return text.rstrip(" \t\n.。!?*_|)」』”\"'")[-16:]


def _negated_words(text: str) -> Set[str]:
    """The first content word after each negation."""
    plain = _BOUND.sub(" ", text)
    following = (
        plain[match.end() : match.end() + 60] for match in _ENGLISH_NEGATION.finditer(plain)
    )
    return frozenset(token for words in following for token in content_tokens(words)[:1])
