"""How well each sentence of the retrieved passages answers a question, by its words."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from langchain_core.documents import Document

from chains.definitions import defined_term, defines
from chains.navigation import is_navigation
from chains.quoted_units import announces_list
from language.sentences import split_sentences
from language.tokens import content_tokens

# Fitted on 600 questions each of XQuAD-en, KorQuAD and JSQuAD and confirmed on 600 others; a
# third less or more of any moves the share of right first sentences by under 0.01.
CONTEXT_WEIGHT = 0.5
"""What a question word counts in the sentence before."""
HEADING_WEIGHT = 1.0
"""What a question word counts that only the document's title or the headings hold."""
PASSAGE_WEIGHT = 0.3
"""What the passage's own rank in the search adds at most."""
PASSAGE_COSINE_WEIGHT = 0.8
"""What the passage's likeness in meaning adds, where the scale of the cosines is known."""
NUMBER_BONUS = 0.4
"""What a number adds where the question asks for one."""
DEFINITION_BONUS = 0.4
"""What it adds that the sentence says what something is, where that is the question."""
ASKED_WEIGHT = 0.8
"""What a question word counts in the question that the sentence's paragraph begins with, as in an
FAQ, or in the header above a table row: the two are read as one. (Those sets hold neither.)"""
KNOWN_WEIGHT = 0.3
"""What a question word counts that an earlier question held: the new words tell what is asked."""

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
_BLANK_LINE = re.compile(r"\n\s*\n")
_RULE = re.compile(r"[|:\-\s]+|(?:```|~~~)\w*")
# A question, or a sentence that only announces what follows.
_LEADS_ON = re.compile(r"(?:[?？:：]|[^\W\d]か。)[\s\"'”’)*_`」』]*$")

Tokens = Set[str]


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of passage `n` (from 1): `passage[start:end]`.

    `share` is the part of the question's words that it answers to, by weight, in [0, 1]; the
    score adds to it what its passage and a number asked for say, and its own likeness in meaning
    once that is known (`cosine` and its `vector`, None before). `own` is the part of the share
    that its own words make; `near` are those words and the ones it is read together with.
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
    asked: Tokens
    headings: Tokens


def score_sentences(
    question: str,
    documents: Sequence[Document],
    earlier: Sequence[str] = (),
    *,
    knows_meaning: bool = False,
) -> list[ScoredSentence]:
    """Every sentence that could be quoted, best first.

    Headings, table headers, questions, navigation and sentences that end in a colon never are. A
    word weighs the more the fewer of these sentences hold it: what all of them speak of tells
    none apart; and the less if one of the `earlier` questions held it. The documents come best
    first, or carry a `score` in their metadata.
    """
    wanted = frozenset(content_tokens(question))
    candidates = [
        candidate
        for n, document in enumerate(documents, start=1)
        for candidate in _candidates(n, document)
    ]
    weights = _weights(wanted, [candidate.tokens for candidate in candidates])
    for token in wanted.intersection(content_tokens(" ".join(earlier))):
        weights[token] *= KNOWN_WEIGHT
    worths = _passage_worths(documents, PASSAGE_COSINE_WEIGHT if knows_meaning else 0.0)
    numbers = _numbers(question) if _ASKS_FOR_A_NUMBER.search(question) else None
    term = defined_term(question)
    scored = [
        _scored(candidate, weights, _bonus(candidate.text, numbers, term) + worths[candidate.n - 1])
        for candidate in candidates
    ]
    return sorted(scored, key=lambda sentence: -sentence.score)


def _candidates(n: int, document: Document) -> Iterator[_Candidate]:
    text = document.page_content
    headings = frozenset(content_tokens(headings_above(document)))
    before: Tokens = frozenset()
    asked: Tokens = frozenset()
    header: Tokens = frozenset()
    leads_on = False
    done = 0
    for start, end in split_sentences(text):
        sentence, gap = text[start:end], text[done:start]
        done = end
        if _says_nothing(sentence) or (start == 0 and _is_fragment(document)):
            continue
        tokens = frozenset(content_tokens(sentence))
        header = header if sentence.startswith("|") else frozenset()
        if not leads_on and _BLANK_LINE.search(gap):
            asked = frozenset()
        leads_on = _LEADS_ON.search(sentence) is not None
        if _HEADING.match(sentence):
            headings |= tokens
        elif _heads_a_table(text, start, end):
            header = tokens
        elif not leads_on or announces_list(text, start, end):
            near = before if not header else frozenset()
            yield _Candidate(n, start, end, sentence, tokens, near, asked | header, headings)
        asked = tokens if leads_on else asked
        before = tokens


def _says_nothing(sentence: str) -> bool:
    return _RULE.fullmatch(sentence) is not None or is_navigation(sentence)


def _is_fragment(passage: Document) -> bool:
    """Whether the passage begins in the middle of a sentence that another one begins."""
    begins_later = bool(passage.metadata.get("start"))
    return begins_later and passage.page_content[:1].islower()


def _heads_a_table(text: str, start: int, end: int) -> bool:
    """Whether the rule below a table's header follows, or the passage ends before it could."""
    following = text[end : end + 200].lstrip().partition("\n")[0]
    if not following:
        above = text[:start].rstrip().rpartition("\n")[2]
        return text.startswith("|", start) and above != "" and not above.startswith("|")
    return following.startswith("|") and _RULE.fullmatch(following) is not None


def headings_above(document: Document) -> str:
    """The document's title and the headings above the passage, a line each."""
    title = document.metadata.get("title") or ""
    return " \n".join([title, *(document.metadata.get("heading_path") or ())])


def _weights(wanted: Tokens, sentences: Sequence[Tokens]) -> dict[str, float]:
    counts = Counter(token for tokens in sentences for token in wanted & tokens)
    return {
        token: math.log(1 + (len(sentences) - counts[token] + 0.5) / (counts[token] + 0.5))
        for token in wanted
    }


def passage_cosine(document: Document) -> float | None:
    """The cosine of question and passage; None where the search compared no meanings."""
    parts = document.metadata.get("parts") or ()
    return next((part["score"] for part in parts if part["ranker"] == "dense"), None)


def _passage_worths(documents: Sequence[Document], weight: float) -> list[float]:
    """What each passage adds to the score of its sentences; `weight` is that of its cosine."""
    return [
        PASSAGE_WEIGHT * score + weight * (passage_cosine(document) or 0.0)
        for document, score in zip(documents, _passage_scores(documents), strict=True)
    ]


def _passage_scores(documents: Sequence[Document]) -> list[float]:
    """The search scores between 0 and 1; where there are none, ranks stand for them."""
    known = [document.metadata.get("score") for document in documents]
    scores = [float(score) for score in known if score is not None]
    if len(scores) < len(known):
        return [1 / rank for rank in range(1, len(known) + 1)]
    lowest, spread = min(scores, default=0), max(scores, default=0) - min(scores, default=0)
    return [(score - lowest) / spread if spread else 1.0 for score in scores]


def _scored(candidate: _Candidate, weights: Mapping[str, float], bonus: float) -> ScoredSentence:
    share = 0.0
    left: Tokens = weights.keys()
    for tokens, part in (
        (candidate.tokens, 1.0),
        (candidate.asked, ASKED_WEIGHT),
        (candidate.before, CONTEXT_WEIGHT),
        (candidate.headings, HEADING_WEIGHT),
    ):
        share += part * _weight(left & tokens, weights)
        left = left - tokens
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
        near=candidate.tokens | candidate.before | candidate.asked,
    )


def _bonus(sentence: str, numbers: Tokens | None, term: str | None) -> float:
    """What the sentence's form adds: a number or a definition, where the question asks for one."""
    has_number = numbers is not None and bool(_numbers(sentence) - numbers)
    is_definition = term is not None and defines(sentence, term)
    return NUMBER_BONUS * has_number + DEFINITION_BONUS * is_definition


def _weight(tokens: Tokens, weights: Mapping[str, float]) -> float:
    """Exact, so that equal scores are equal in whatever order a process keeps its sets."""
    return math.fsum(weights[token] for token in tokens)


def _numbers(text: str) -> Tokens:
    found = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return frozenset(number.strip().lower() for number in found)
