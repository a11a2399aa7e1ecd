"""Finds the words that carry the meaning of a question."""

import re
import unicodedata
from typing import NamedTuple

from domain.language.script import CJK, HAN, HANGUL, KATAKANA
from domain.language.tokens import content_tokens

Key = frozenset[str]
"""The tokens of a word, which are equal for all of its spellings."""

MAX_TERM_CHARS = 40  # anything longer is encoded data or unbroken Chinese

_JOINED = rf"[^\W_{CJK}]+"
_WORD = re.compile(rf"{_JOINED}(?:[-_.'’]{_JOINED})*|[{HANGUL}]{{2,}}|[{HAN}{KATAKANA}]{{2,}}")
# Only particles in which few nouns end: 가 and 의 would truncate 휴가 and 회의.
_KOREAN_PARTICLE = r"(?:(?:에서|에게|에|으로|까지|부터)(?:는요?)?|(?:은|는)요?|을|를)"
# Endings that turn a noun into a verb: 신청하나요, 이월할; 申請すれば, 更新できます.
_KOREAN_VERB_ENDING = (
    r"(?:[하되](?:나요?|는지?|고|면|려면|려고|여|게|지|기|셨나요|십니까)|해[요서야도]?|돼[요서야도]?"
    r"|[할될된]|[했됐]\w*|[합됩]니\w*|한다|된다)"
)
_ENDING = re.compile(rf"(?<=[가-힣]{{2}})(?:(?P<verb>{_KOREAN_VERB_ENDING})|{_KOREAN_PARTICLE})$")
_JAPANESE_VERB_ENDING = re.compile(r"(?:する|し[たてまな]|すれ|でき|され|させ)")
# 내요, but not the nouns 필요 and 수요; 합니다, but not 바다.
_KOREAN_PREDICATE = (
    r"(?:(?:나|까|세|어|아|해|가|예|에|이|내|려|돼|와|워|져|써|줘|대|은|는|도)요"
    r"|니까|[니한된는였었았했됐이있없하되]다|[죠줘돼]|는지|려면)"
)
_KOREAN_VERB_FORM = r"(?:[있없](?:는|고|으면|을|어|나|지)|[아어여써]야)"
_KOREAN_ADVERB = r"자주|먼저|다시|아직|이미|가장|모두|같이|함께|따로|바로|혹시|원래|그냥|정말"
_KOREAN_COUNTED = r"[시일명번층주월년분](?:까지|부터|에|이나|동안)?"
# Conversational words are rare in documents, so they would seem salient.
_TALK = (
    r"able|cannot|different|excuse|get|happens?|hello|hi|know|like|long|meant?|means|need|no|often|ok|okay"
    r"|sorry|sure|take|thanks?|think|try|tried|trying|understand|understanding|use|using|want"
    r"|word|work|yes"
)
_NOT_A_TERM = re.compile(
    rf"(?i:{_TALK})|[가-힣]*(?:{_KOREAN_PREDICATE}|{_KOREAN_VERB_FORM})"
    rf"|{_KOREAN_ADVERB}|{_KOREAN_COUNTED}|그[거것건게걸럼런래]\w*|이[거것건걸]\w*|며칠\w*|얼마\w*"
    r"|왜요?|누[가구]\w*|언제\w*|어디\w*|어떻게\w*|어떤\w*|무[엇슨]\w*|[何幾].*"
)


class Term(NamedTuple):
    """The span of a meaningful word; `is_verb` is True if its ending makes it a verb."""

    start: int
    end: int
    is_verb: bool


def terms(text: str) -> list[str]:
    """The meaningful words as written, in order of occurrence.

    Common particles and verb endings of Korean words are removed. In Japanese, only runs of kanji
    or katakana count.
    """
    normal = unicodedata.normalize("NFKC", text)
    return [normal[term.start : term.end] for term in find_terms(normal)]


def find_terms(normal: str) -> list[Term]:
    """The terms of a text in NFKC, in order of occurrence."""
    return [
        term
        for match in _WORD.finditer(normal)
        if (term := _as_term(match)).end - term.start <= MAX_TERM_CHARS
        and _is_term(match[0], normal[term.start : term.end])
    ]


def key_of(text: str) -> Key:
    """The tokens for comparing words."""
    return frozenset(content_tokens(text))


def _as_term(match: re.Match[str]) -> Term:
    following = _JAPANESE_VERB_ENDING.match(match.string, match.end())
    ending = _ENDING.search(match[0])
    if ending is None:
        return Term(match.start(), match.end(), following is not None)
    return Term(match.start(), match.start() + ending.start(), ending["verb"] is not None)


def _is_term(word: str, bare: str) -> bool:
    """Whether the word carries meaning; `bare` is the word without its ending."""
    ends_like_a_verb = word == bare and _NOT_A_TERM.fullmatch(word)
    return not (ends_like_a_verb or _NOT_A_TERM.fullmatch(bare)) and bool(content_tokens(bare))
