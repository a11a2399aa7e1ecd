"""Which sentences of an answer claim something, and which one a marker stands for."""

import re
from bisect import bisect_left
from functools import cached_property

from language.sentences import split_sentences
from language.tokens import content_tokens

_Span = tuple[int, int]
_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_HEADING = re.compile(r"\s*#{1,6}\s|\s*(\*\*|__)[^*_]+\1\s*$")
_CLOSERS = "\"'”’)*_」』）"
_NO_CLAIM_ENDS = (":", "：", "?", "？")
_TABLE_RULE = re.compile(r"[|:\-\s]+")
_MATERIAL = r"(?:sources?|documents?|passages?|excerpts?|materials?)"
_ANSWERS = (
    r"(?:answer|address|contain|cover|describ|includ|inform|mention|provid|sa(?:y|id)|specif|stat)"
)
_NOTHING_FOUND = re.compile(
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
    """The sentences of an answer from which the markers have been taken out."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self.spans = split_sentences(answer)

    def cited_by(self, at: int) -> int | None:
        """The index of the sentence that a marker at that place stands for.

        The one it stands in or directly behind; a marker that begins a line stands for the
        sentence that follows.
        """
        index = bisect_left([start for start, _ in self.spans], at) - 1
        behind = index >= 0 and "\n" not in self._answer[self.spans[index][1] : at]
        line = self._answer[at:].partition("\n")[0]
        if not behind and line.strip() and index + 1 < len(self.spans):
            return index + 1
        return index if index >= 0 else None

    def statement(self, index: int, after: int, at: int, until: int) -> str:
        """What a marker at that place vouches for: its sentence from the marker before it.

        Where that is too little to tell, what follows up to the next marker is added.
        """
        start, end = self.spans[index]
        part = self._answer[max(start, after) : at] if at > start else ""
        if len(content_tokens(part)) >= _MIN_WORDS:
            return part
        return self._answer[max(start, min(after, at)) : max(start, min(end, until))]

    def quotation_before(self, at: int, floor: int) -> _Span | None:
        """The quotation that closes directly before that place and opens after `floor`."""
        floor = max(floor, at - _MAX_QUOTATION, self._answer.rfind("\n\n", 0, at) + 1)
        end = _QUOTATION_END.search(self._answer, floor, at)
        if end is None:
            return None
        mark, depth = end["mark"], 0
        for place in range(end.start() - 1, floor - 1, -1):
            character = self._answer[place]
            if character in _OPENERS[mark]:
                if depth == 0:
                    return place + 1, end.start()
                depth -= 1
            elif character == mark:
                depth += 1
        return None

    @cached_property
    def claims(self) -> list[int]:
        """The indices of the sentences that claim something and so need a source."""
        code = [match.span() for match in _FENCED.finditer(self._answer)]
        return [
            index
            for index, (start, end) in enumerate(self.spans)
            if not any(begin <= start < finish for begin, finish in code)
            and not self._is_table_header(index)
            and _claims_something(self._answer[start:end])
        ]

    def _is_table_header(self, index: int) -> bool:
        following = self.spans[index + 1 : index + 2]
        rules = [self._answer[start:end] for start, end in following]
        return any("|" in rule and "-" in rule and _TABLE_RULE.fullmatch(rule) for rule in rules)


def _claims_something(sentence: str) -> bool:
    if _HEADING.match(sentence) or sentence.rstrip(_CLOSERS).endswith(_NO_CLAIM_ENDS):
        return False
    return len(content_tokens(sentence)) >= _MIN_WORDS and not _NOTHING_FOUND.search(sentence)
