"""Decides whether a question depends on the conversation, and finds the terms that it omits."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from chains.condensing.question_terms import Key, find_terms, key_of, terms
from chains.history import History, cited_headings, last_citations, questions

FRAGMENT_TERMS = 2  # "Red Hat OpenShift?" may stand alone, "data volume" can't
OPENED_TERMS = 3  # "And for new employees in Japan?"
OWN_TERMS = 3  # "Can I extend the web chat, and is it secure?" names "it"

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
