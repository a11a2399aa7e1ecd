"""Questions for what something is, and the sentences that say it."""

import re
import unicodedata

from chains.visible_text import shown

_QUESTIONS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bwhat(?:'s| is| are) meant by (?P<term>[^?,.]+)",
        r"\bwhat do(?:es)? (?P<term>[^?,.]+?) (?:mean|stand for)\b",
        r"\b(?:definition|meaning) of (?P<term>[^?,.]+)",
        r"^(?:so,? |and )?(?:what|who)(?:'s| is| are) (?P<term>[^?,.]+)\??$",
        r"^define (?P<term>[^?,.]+)",
        r"^(?P<term>.+?)(?:이?란|이?라는 [게건]|[이가은는])?\s*(?:정확히 )?"
        r"(?:뭐|뭔|뭘|무엇|무슨 뜻|무슨 의미|어떤 뜻)",
        r"^(?P<term>.+?)(?:의)? (?:뜻|정의)[이은을]?(?:\s|\?|$)",
        r"^(?P<term>.+?)(?:とは|って)(?:$|[?？]|、?(?:何|なに|なん|どういう|どんな))",
        r"^(?P<term>.+?)の(?:意味|定義)",
    )
]
_ARTICLE = re.compile(r"^(?:an?|the|our|your|this)\s+", re.IGNORECASE)
_MARKS = "\"'“”‘’「」『』*`"
_MOST_CHARS = 40
_PRONOUNS = frozenset(("it", "this", "that", "these", "those", "there", "they"))
_SAYS = (
    r"\s*(?:\([^)]{1,60}\)|（[^）]{1,60}）)?[\"'”’」』]*\s*"
    r"(?::|：|\||[-–—]\s|(?:is|are|means?|stands? for|refers? to|describes?)\b"
    r"|이란|란\s|[은는]\s|とは|は)"
)


def defined_term(question: str) -> str | None:
    """What the question wants to have explained; None for any other question.

    >>> defined_term("What is a bearing buoy?")
    'bearing buoy'
    """
    plain = unicodedata.normalize("NFKC", question).strip()
    for pattern in _QUESTIONS:
        if match := pattern.search(plain):
            term = _ARTICLE.sub("", match["term"].strip(_MARKS + " ")).strip(_MARKS + " ")
            is_term = 1 < len(term) <= _MOST_CHARS and term.lower() not in _PRONOUNS
            return term if is_term else None
    return None


def defines(sentence: str, term: str) -> bool:
    """Whether the sentence begins with the term and goes on to say what it is.

    So do a row of a table and an entry of a glossary that begin with it.
    """
    text = _ARTICLE.sub("", unicodedata.normalize("NFKC", shown(sentence)).strip(_MARKS + " -•"))
    return re.match(re.escape(term) + r"(?:e?s)?" + _SAYS, text, re.IGNORECASE) is not None
