"""Scores how well the words of each sentence of the retrieved passages answer a question."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from langchain_core.documents import Document

from chains.citations.visible_text import shown
from chains.extractive.quoted_units import announces_list
from domain.language.sentences import split_sentences
from domain.language.tokens import content_tokens

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
_PREDICATE = (
    r"\s*(?:\([^)]{1,60}\)|（[^）]{1,60}）)?[\"'”’」』]*\s*"
    r"(?::|：|\||[-–—]\s|(?:is|are|means?|stands? for|refers? to|describes?)\b"
    r"|이란|란\s|[은는]\s|とは|は)"
)


def defined_term(question: str) -> str | None:
    """The term that the question asks to explain; None for any other question.

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
    """Whether the sentence begins with the term and defines it.

    A table row or a glossary entry that begins with the term counts too.
    """
    text = _ARTICLE.sub("", unicodedata.normalize("NFKC", shown(sentence)).strip(_MARKS + " -•"))
    return re.match(re.escape(term) + r"(?:e?s)?" + _PREDICATE, text, re.IGNORECASE) is not None


_IMAGE = re.compile(r"\[?!\[[^\]\n]{0,500}\]\([^()\n]{0,2000}\)(?:\]\([^()\n]{0,2000}\))?")
"""An image, perhaps inside a link."""
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\((?P<target>[^()\n]{0,2000})\)")
_BREADCRUMBS = re.compile(r"[^>»›.。!?\n]{1,40}(?:\s[>»›]\s[^>»›.。!?\n]{1,40}){2,}")
_WORD = re.compile(r"[^\W_]")


def is_navigation(line: str) -> bool:
    """Whether the line has nothing but images, several links, or a link within its own page.

    A path such as "Home > Guides > Setup" counts too. A single link to another page does not,
    because it may be the answer.
    """
    if _BREADCRUMBS.fullmatch(line.strip()):
        return True
    without_images = _IMAGE.sub("", line)
    if _WORD.search(_LINK.sub("", without_images)):
        return False
    targets = [match["target"] for match in _LINK.finditer(without_images)]
    if len(targets) == 1:
        return targets[0].startswith("#")
    return len(targets) > 1 or without_images != line


# Fitted on 600 questions each of XQuAD-en, KorQuAD, and JSQuAD, and confirmed on 600 others.
# Changing any of these by a third changes the share of correct first sentences by less than 0.01.
CONTEXT_WEIGHT = 0.5
"""The weight of a question word in the previous sentence."""
HEADING_WEIGHT = 1.0
"""The weight of a question word that only the title or the headings contain."""
PASSAGE_WEIGHT = 0.3
"""The maximum that the passage's search score or rank adds."""
PASSAGE_COSINE_WEIGHT = 0.8
"""The weight of the passage's cosine, if the scale of the cosines is known."""
NUMBER_BONUS = 0.4
"""Added for a number if the question asks for one."""
DEFINITION_BONUS = 0.4
"""Added for a definition if the question asks for one."""
LEADING_QUESTION_WEIGHT = 0.8
"""The weight of a question word in a question at the beginning of the sentence's paragraph, as in
an FAQ, or in the header above a table row. Both are read together with the sentence. (The question
sets above contain neither.)"""
REPEATED_WEIGHT = 0.3
"""The weight of a question word that an earlier question contained; new words matter more."""

_ASKS_FOR_A_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|often|large|big|high|tall|soon|late|early)\b|\bwhen\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}(?:year|date|day|percent|percentage|number|time|amount)\b"
    r"|몇|얼마|언제|何[年月日時分人回個歳番点円本位世週]|いつ|いくつ|いくら|ど(?:の|れ)くらい",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundred|thousand|million|once|twice|half|dozen)\b"
    r"|(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무) ?(?=[개명번시달주살대곳배해층권장사])"
    r"|[一二三四五六七八九十百千]+(?=つ|[回人名日年か週時分本台件個倍割])",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"[ \t]*\n[ \t]*(?:={3,}|-{3,})[ \t]*(?:\n|$)")
_FULL_STOP = re.compile(r"[.!?。！？][\"'”’)*_`」』]*(?:\[\d+\])*\Z")
_BLANK_LINE = re.compile(r"\n\s*\n")
_RULE = re.compile(r"[|:=\-\s]+|(?:```|~~~)\w*")
# A question, or a sentence that merely announces the following one.
_LEADS_ON = re.compile(r"(?:[?？:：]|[^\W\d]か。)[\s\"'”’)*_`」』]*$")

Tokens = Set[str]


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of passage `n` (from 1): `passage[start:end]`.

    `share` is the weighted share of the question's words that it matches, in [0, 1]. The score adds
    the contributions of the passage, a number, and a definition, and the similarity in meaning once
    it is computed (until then, `cosine` and `vector` are None). `own` is the part of the share from
    the sentence's own words; `near` has these words and those of the text read together with it.
    """

    n: int
    start: int
    end: int
    share: float
    score: float
    own: float
    is_row: bool
    near: Tokens
    cosine: float | None = None
    vector: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    n: int
    start: int
    end: int
    text: str
    tokens: Tokens
    before: Tokens
    leading_question: Tokens
    headings: Tokens


def score_sentences(
    question: str,
    documents: Sequence[Document],
    earlier: Sequence[str] = (),
    *,
    knows_meaning: bool = False,
) -> list[ScoredSentence]:
    """All sentences that could be quoted, best first.

    Headings, table headers, questions, navigation, and sentences that end with a colon are omitted.
    A word counts more if fewer of these sentences contain it, and less if one of the `earlier`
    questions does. The documents must be sorted best first or have a `score` in their metadata.
    """
    question_tokens = frozenset(content_tokens(question))
    candidates = [
        candidate
        for n, document in enumerate(documents, start=1)
        for candidate in _candidates(n, document)
    ]
    weights = _weights(question_tokens, [candidate.tokens for candidate in candidates])
    for token in question_tokens.intersection(content_tokens(" ".join(earlier))):
        weights[token] *= REPEATED_WEIGHT
    worths = _passage_worths(documents, PASSAGE_COSINE_WEIGHT if knows_meaning else 0.0)
    numbers = _numbers(question) if _ASKS_FOR_A_NUMBER.search(question) else None
    term = defined_term(question)
    scored = [
        _score(candidate, weights, _bonus(candidate.text, numbers, term) + worths[candidate.n - 1])
        for candidate in candidates
    ]
    return sorted(scored, key=lambda sentence: -sentence.score)


def _candidates(n: int, document: Document) -> Iterator[_Candidate]:
    text = document.page_content
    headings = frozenset(content_tokens(headings_above(document)))
    before: Tokens = frozenset()
    leading_question: Tokens = frozenset()
    header: Tokens = frozenset()
    leads_on = False
    previous_end = 0
    for start, end in split_sentences(text):
        sentence, gap = text[start:end], text[previous_end:start]
        previous_end = end
        if _is_boilerplate(sentence) or (start == 0 and _is_fragment(document)):
            continue
        tokens = frozenset(content_tokens(sentence))
        header = header if sentence.startswith("|") else frozenset()
        if not leads_on and _BLANK_LINE.search(gap):
            leading_question = frozenset()
        leads_on = _LEADS_ON.search(sentence) is not None
        if _is_heading(text, start, end):
            headings |= tokens
        elif _heads_a_table(text, start, end):
            header = tokens
        elif not leads_on or announces_list(text, start, end):
            near = before if not header else frozenset()
            yield _Candidate(
                n, start, end, sentence, tokens, near, leading_question | header, headings
            )
        leading_question = tokens if leads_on else leading_question
        before = tokens


def _is_heading(text: str, start: int, end: int) -> bool:
    """Whether the span is a heading: marked, or underlined. A rule may also follow a sentence."""
    if _HEADING.match(text, start):
        return True
    return _UNDERLINE.match(text, end) is not None and not _FULL_STOP.search(text, start, end)


def _is_boilerplate(sentence: str) -> bool:
    return _RULE.fullmatch(sentence) is not None or is_navigation(sentence)


def _is_fragment(passage: Document) -> bool:
    """Whether the passage begins in the middle of a sentence."""
    begins_later = bool(passage.metadata.get("start"))
    return begins_later and passage.page_content[:1].islower()


def _heads_a_table(text: str, start: int, end: int) -> bool:
    """Whether the span is a table header: a rule follows, or the passage ends before the rule."""
    following = text[end : end + 200].lstrip().partition("\n")[0]
    if not following:
        above = text[:start].rstrip().rpartition("\n")[2]
        return text.startswith("|", start) and above != "" and not above.startswith("|")
    return following.startswith("|") and _RULE.fullmatch(following) is not None


def headings_above(document: Document) -> str:
    """The document's title and the headings above the passage, one per line."""
    title = document.metadata.get("title") or ""
    return " \n".join([title, *(document.metadata.get("heading_path") or ())])


def _weights(question_tokens: Tokens, sentences: Sequence[Tokens]) -> dict[str, float]:
    counts = Counter(token for tokens in sentences for token in question_tokens & tokens)
    return {
        token: math.log(1 + (len(sentences) - counts[token] + 0.5) / (counts[token] + 0.5))
        for token in question_tokens
    }


def passage_cosine(document: Document) -> float | None:
    """The cosine of question and passage; None if the search did not use vectors."""
    parts = document.metadata.get("parts") or ()
    return next((part["score"] for part in parts if part["ranker"] == "dense"), None)


def _passage_worths(documents: Sequence[Document], weight: float) -> list[float]:
    """The amount that each passage adds to its sentences' scores; `weight` is its cosine's."""
    return [
        PASSAGE_WEIGHT * score + weight * (passage_cosine(document) or 0.0)
        for document, score in zip(documents, _passage_scores(documents), strict=True)
    ]


def _passage_scores(documents: Sequence[Document]) -> list[float]:
    """The search scores scaled to [0, 1], or the reciprocal ranks if there are none."""
    values = [document.metadata.get("score") for document in documents]
    scores = [float(score) for score in values if score is not None]
    if len(scores) < len(values):
        return [1 / rank for rank in range(1, len(values) + 1)]
    lowest, spread = min(scores, default=0), max(scores, default=0) - min(scores, default=0)
    return [(score - lowest) / spread if spread else 1.0 for score in scores]


def _score(candidate: _Candidate, weights: Mapping[str, float], bonus: float) -> ScoredSentence:
    share = 0.0
    unmatched: Tokens = weights.keys()
    for tokens, part in (
        (candidate.tokens, 1.0),
        (candidate.leading_question, LEADING_QUESTION_WEIGHT),
        (candidate.before, CONTEXT_WEIGHT),
        (candidate.headings, HEADING_WEIGHT),
    ):
        share += part * _weight(unmatched & tokens, weights)
        unmatched = unmatched - tokens
    total = _weight(weights.keys(), weights) or 1
    share /= total
    own = _weight(weights.keys() & candidate.tokens, weights) / total
    return ScoredSentence(
        n=candidate.n,
        start=candidate.start,
        end=candidate.end,
        share=share,
        score=share + bonus,
        own=own,
        is_row=candidate.text.startswith("|"),
        near=candidate.tokens | candidate.before | candidate.leading_question,
    )


def _bonus(sentence: str, numbers: Tokens | None, term: str | None) -> float:
    """The amount added for a number or a definition if the question asks for one."""
    has_number = numbers is not None and bool(_numbers(sentence) - numbers)
    is_definition = term is not None and defines(sentence, term)
    return NUMBER_BONUS * has_number + DEFINITION_BONUS * is_definition


def _weight(tokens: Tokens, weights: Mapping[str, float]) -> float:
    """The exact sum, so that equal scores do not depend on the order of sets."""
    return math.fsum(weights[token] for token in tokens)


def _numbers(text: str) -> Tokens:
    matches = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return frozenset(number.strip().lower() for number in matches)
