"""Whether a question leans on the conversation before it."""

import re
import unicodedata

from chains.terms import find_terms, terms

FRAGMENT_TERMS = 2  # "Red Hat OpenShift?" may be a question, "data volume" leans on the last
OPENED_TERMS = 3  # "And for new employees in Japan?"
OWN_TERMS = 3  # "Can I extend the web chat, and is it secure?" says itself what "it" is

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
# What a thing has: without the thing they ask nothing.
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
    """Whether the question can't be understood, or searched for, alone.

    It can't where it points back, or names nothing or only an attribute of something ("the
    deadline"), or opens like a follow-up and is short, or is but a word or two without a verb.
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
    """Whether a word stands for something that is not named before it in the question."""
    found = _POINTS_BACK.search(question)
    return found is not None and len(terms(question[: found.start()])) < OWN_TERMS


def _opens_or_asks_how_about(question: str) -> bool:
    opens = _OPENS_LIKE_A_FOLLOW_UP.match(question)
    return opens is not None or _ASKS_HOW_ABOUT.search(question) is not None
