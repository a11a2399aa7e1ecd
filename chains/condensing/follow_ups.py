"""Finds the meaningful words of a question, and decides whether it depends on the conversation.

It also finds the terms that a follow-up question omits.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document

from chains.history import History, cited_headings, last_citations, questions
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


FRAGMENT_TERMS = 2  # "data volume" needs the conversation, "Red Hat OpenShift?" does not
OPENED_TERMS = 3  # "And for new employees in Japan?"
OWN_TERMS = 3  # in "Can I extend the web chat, and is it secure?", "it" is the chat

_KOREAN_END = r"(?:[가-힣]요|니까|니다|[죠다줘돼]|는지)"
_POINTS_BACK = re.compile(
    r"""
    \b(?-i:[Ii]t)\b
      (?!\ (?:possible|necessary|mandatory|required|allowed|safe|worth)\ (?:to|that|\w+ing)\b)
    | \b(?:its|they|them|their|those|these|this|he|she|his|her|him|both|instead|otherwise)\b
    | \b(?:do|does|did|can|will|would|should|must|after|before|for|of|about|than|like)\ that\b
    | \b(?:is|was)\ that(?:\ \w+)?\W*$ | \bthat\W*$ | \bthen\W*$ | \belse\W*$
    | \b(?:which|another|other|same)\ ones?\b | \bones?\W*$
    | \bhere\W*$ | (?<!\bis\ )(?<!\bare\ )(?<!\bwas\ )(?<!\bwere\ )\bthere\W*$
    | (?<![가-힣])(?:그거|그것|그건|그게|그걸|그때|그곳|그쪽|그분|그중|거기|이거|이것|이건|이걸
        |그럼|그러면|그렇다면|그런|그렇게|그래서|이런|둘\ 다|해당|방금|아까|[그이]\ (?=[가-힣]))
    | それ(?!ぞれ) | その | そこ | そちら | そんな | これ(?!から) | この | こちら | こんな
    | 両方 | 同じ | 同様 | 前述 | 上記 | 先ほど
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OPENS_LIKE_A_FOLLOW_UP = re.compile(
    r"\W*(?:(?:and|or|then|so|but|also|ok|okay|(?:what|how)\ about|what\ if|why\ not|same\ for"
    r"|what\ else|who\ else|(?:by|until|till|since|from)\ when)\b"
    r"|그리고|그런데|하지만|또|만약|じゃあ?|では|で、|でも|そして|また|ちなみに|なら|もし)",
    re.IGNORECASE,
)
_ASKS_HOW_ABOUT = re.compile(
    r"(?:[은는](?:요|\s*(?:어때|어떤가요|어떻게\s*(?:되나요|돼|됩니까))\w*)?"
    r"|(?:は|なら)(?:(?:どう|いかが)(?:です|でしょう|でした|なります|なりますか)?か?)?)\W*$"
)
_HAS_A_PREDICATE = re.compile(
    r"\b(?:what|how(?! (?:many|much)\b)|why|when|where|who|is|are|am|was|were|do|does|did|has|have"
    r"|had|can|could|should|will|would|may|might|must|i|explain|tell|show|describe|list|use)\b"
    rf"|(?:{_KOREAN_END}|려면|방법은)\W*$"
    r"|(?:です|ます|ません|ました|でした|でしょう|ください|[かるたいうくす])[かねよの]{0,3}\W*$",
    re.IGNORECASE,
)
# "Who approves?", "Where do I apply?"
_LACKS_AN_OBJECT = re.compile(
    r"\b(?:who|(?:do|does|can|should|must|may|could|will|would)\s+(?:i|we|you|people))\s+\w+\W*$",
    re.IGNORECASE,
)
# Attributes, which mean nothing without the thing that has them.
_ATTRIBUTE = re.compile(
    r"(?:(?:deadline|limit|maximum|minimum|cost|price|fee|charge|owner|contact|approval|exception"
    r"|procedure|process|step|requirement|condition|reason|example|difference|default|date|address"
    r"|duration|period|advantage|disadvantage|benefit|alternative)s?"
    r"|기한|기간|한도|상한|하한|최대|최소|비용|금액|요금|가격|담당|담당자|책임자|절차|방법|조건|예외"
    r"|이유|원인|예시|차이|장점|단점|날짜|장소|주소|이름|대상|주기|횟수|시간|승인|신청|제출|결정|연락처"
    r"|(?:期限|期間|上限|下限|最大|最小|費用|料金|金額|価格|担当|担当者|責任者|手順|手続|方法|条件|例外"
    r"|理由|原因|違|長所|短所|日付|日時|場所|住所|名前|対象|単位|頻度|回数|時間|時期|承認|申請|提出|決定"
    r"|連絡|連絡先)+)(?:가|이|의)?",
    re.IGNORECASE,
)


def leans_on_history(question: str) -> bool:
    """Whether the question can't be understood or searched without the conversation.

    It can't if it refers back, names nothing or only an attribute ("the deadline"), is short and
    begins like a follow-up, or consists of one or two words without a verb.
    """
    number = len(terms(question))
    return (
        not _names_something(question)
        or _points_back(question)
        or (number <= OPENED_TERMS and _opens_or_asks_how_about(question))
        or (number <= FRAGMENT_TERMS and _HAS_A_PREDICATE.search(question) is None)
        or (number == 1 and _LACKS_AN_OBJECT.search(question) is not None)
    )


def _names_something(question: str) -> bool:
    normal = unicodedata.normalize("NFKC", question)
    return any(
        not term.is_verb and not _ATTRIBUTE.fullmatch(normal[term.start : term.end])
        for term in find_terms(normal)
    )


def _points_back(question: str) -> bool:
    """Whether a word refers to something that the question has not named before that word."""
    match = _POINTS_BACK.search(question)
    return match is not None and len(terms(question[: match.start()])) < OWN_TERMS


def _opens_or_asks_how_about(question: str) -> bool:
    opens = _OPENS_LIKE_A_FOLLOW_UP.match(question)
    return opens is not None or _ASKS_HOW_ABOUT.search(question) is not None


RANKS_AHEAD = 1
"""The maximum number of ranks by which a passage of a cited document moves up."""


def prefer_cited(documents: Sequence[Document], inputs: Mapping[str, Any]) -> list[Document]:
    """The documents, best first, with those that the last answer cited moved up.

    They are identified by the `document_id` in their metadata. The order does not change if there
    is a `standalone_question` or the question is not a follow-up, because it may be about
    something else.

    Args:
        documents: The passages, best first.
        inputs: The chain's inputs `question`, `chat_history`, and optionally
            `standalone_question`.
    """
    if inputs.get("standalone_question") or not leans_on_history(inputs["question"]):
        return list(documents)
    citations = last_citations(inputs["chat_history"])
    cited_ids = {citation.get("extras", {}).get("document_id") for citation in citations} - {None}
    ranks = [
        # Half a rank more, so that it precedes the passage whose rank it takes.
        rank - (RANKS_AHEAD + 0.5) * (document.metadata.get("document_id") in cited_ids)
        for rank, document in enumerate(documents)
    ]
    return [documents[n] for n in sorted(range(len(documents)), key=ranks.__getitem__)]


Idf = Callable[[Sequence[str]], Mapping[str, float]]
"""Returns the rarity of each token in the library; missing tokens count as 0."""

RECENCY = 0.5  # factor for the terms of each earlier question
SAME_SUBJECT = 0.75  # the same if the later question is a follow-up
LEANING_WEIGHT = 0.6  # factor for terms of a follow-up, whose subject was named before
CITED_WEIGHT = 2.0  # factor for terms in the title or headings of a cited source


def salient_terms(question: str, history: History, limit: int, idf: Idf | None = None) -> list[str]:
    """The terms of the conversation that the question most likely omits.

    They come from earlier questions, preferably recent ones, or else from the title and headings
    of the last cited passage, but never from an answer, which may be wrong. Terms that the question
    contains or that `idf` does not know are skipped.

    Returns:
        At most `limit` words, newest first; adjacent words are joined into phrases.
    """
    newest_first, headings = questions(history)[::-1], cited_headings(history)
    question_key = key_of(question)
    best = _best(_weights(newest_first, headings), question_key, idf)
    best = best or _best(dict.fromkeys(_keys(headings), 1.0), question_key, idf)
    return _as_phrases(best[:limit], [*newest_first, *headings])


def _best(weights: Mapping[Key, float], question_key: Key, idf: Idf | None) -> list[Key]:
    """The keys that are not in the question, most significant first."""
    rarity = _rarity(weights, idf)
    new = [key for key in weights if rarity[key] > 0 and not key <= question_key]
    return sorted(new, key=lambda key: -weights[key] * rarity[key])


def _weights(newest_first: Iterable[str], headings: Sequence[str]) -> dict[Key, float]:
    """The weights of the questions' terms, which decrease with age."""
    weights: dict[Key, float] = defaultdict(float)
    cited = key_of(" ".join(headings))
    weight = 1.0
    for text in newest_first:
        leans = leans_on_history(text)
        own = weight * LEANING_WEIGHT if leans else weight
        for key in _keys([text]):
            weights[key] += own * CITED_WEIGHT if key <= cited else own
        weight *= SAME_SUBJECT if leans else RECENCY
    return weights


def _keys(texts: Iterable[str]) -> list[Key]:
    """The distinct keys in order, so that ties are broken the same way in every process."""
    return list(dict.fromkeys(key_of(term) for text in texts for term in terms(text)))


def _rarity(keys: Collection[Key], idf: Idf | None) -> dict[Key, float]:
    """The square root of the idf, because a subject is rare but seldom the rarest word."""
    if idf is None:
        return dict.fromkeys(keys, 1.0)
    idf_by_token = idf(sorted({token for key in keys for token in key}))
    return {key: math.sqrt(max(idf_by_token.get(token, 0.0) for token in key)) for key in keys}


def _as_phrases(keys: Iterable[Key], texts: Iterable[str]) -> list[str]:
    """Each key as it was first written; adjacent ones are joined."""
    missing = set(keys)
    phrases: list[str] = []
    for text in texts:
        normal = unicodedata.normalize("NFKC", text)
        last_end = None
        for start, end, _ in find_terms(normal):
            key = key_of(normal[start:end])
            if key not in missing:
                continue
            missing.remove(key)
            if last_end is not None and normal[last_end:start] in ("", " "):
                phrases[-1] += normal[last_end:end]
            else:
                phrases.append(normal[start:end])
            last_end = end
    return phrases
