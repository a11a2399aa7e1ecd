"""Whether the best sentence found answers the question: a logistic model of five measures.

What each measure is worth alone and together is in docs/evaluation.md; `fitting.answer_decision`
derives the coefficients. They are chosen so that 5 % of the answerable questions are refused.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.documents import Document

from chains.follow_ups import Idf
from chains.sentence_scores import ScoredSentence, headings_above, passage_cosine
from language.script import script_of
from language.tokens import content_tokens, telling_tokens


@dataclass(frozen=True, slots=True)
class Measures:
    """What speaks for an answer.

    `cosine` is that of question and sentence, `margin` by how much the nearest passage is nearer
    than the second. Of the question's telling words, weighed by how rare they are in the library,
    `passage` is the part that the passage and its headings hold, and `sentence` the part that the
    sentence, the one it is read with and the title hold. `share` is `ScoredSentence.share`.
    """

    cosine: float
    margin: float
    passage: float
    sentence: float
    share: float


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What each measure adds to the log-odds; 0 is where an answer is given."""

    cosine: float
    margin: float
    passage: float
    sentence: float
    share: float
    bias: float

    def log_odds(self, measures: Measures) -> float:
        """Above 0: there is an answer."""
        return (
            self.cosine * measures.cosine
            + self.margin * measures.margin
            + self.passage * measures.passage
            + self.sentence * measures.sentence
            + self.share * measures.share
            + self.bias
        )


BY_MEANING = {
    "latin": Coefficients(11.1, 15.1, 4.8, 1.7, 1.3, -9.64),
    "korean": Coefficients(7.4, 5.4, 3.6, 1.8, 5.6, -8.68),
    "japanese": Coefficients(5.5, 6.3, 2.4, 2.3, 4.1, -7.55),
}
"""By script of the question, where the passage is in the same."""
BY_WORDS = {
    "latin": Coefficients(0, 0, 7.6, 4.4, 0, -4.95),
    "korean": Coefficients(0, 0, 5.0, 3.5, 4.9, -5.75),
    "japanese": Coefficients(0, 0, 3.5, 2.1, 5.2, -4.98),
}
"""The same where nothing is known about meaning."""
ACROSS = Coefficients(15, 0, 0, 0, 0, -6)
"""Where question and passage are in different scripts and can share no word."""

_ALIKE = {"chinese": "japanese"}  # Han characters alone are far more often Japanese here
_MOST_MARGIN = 0.3


def measures_of(
    question: str, documents: Sequence[Document], best: ScoredSentence, idf: Idf
) -> Measures:
    """The measures of the best sentence; `documents` are those it was chosen from."""
    document = documents[best.n - 1]
    wanted = sorted(set(telling_tokens(question)))
    weights = idf(wanted)
    title = set(content_tokens(document.metadata.get("title") or ""))
    above = set(content_tokens(headings_above(document)))
    return Measures(
        cosine=best.cosine or 0.0,
        margin=_margin(documents),
        passage=_held(weights, above.union(content_tokens(document.page_content))),
        sentence=_held(weights, title | best.near),
        share=best.share,
    )


def log_odds(question: str, measures: Measures, passage: str, *, knows_meaning: bool) -> float:
    """The log-odds that there is an answer, moved so that one is given above 0.

    Args:
        question: Tells by its script which coefficients count.
        measures: Of the best sentence.
        passage: That sentence's passage.
        knows_meaning: Whether the cosines are those that the coefficients were fitted on.
    """
    asked, told = _family(question), _family(passage)
    if not knows_meaning:
        return BY_WORDS[asked].log_odds(measures)
    if asked != told:
        return ACROSS.log_odds(measures)
    return BY_MEANING[asked].log_odds(measures)


def is_foreign(question: str, passage: str) -> bool:
    """Whether they are in different scripts, and so can hardly share a word."""
    return _family(question) != _family(passage)


def _family(text: str) -> str:
    script = script_of(text)
    script = _ALIKE.get(script, script)
    return script if script in BY_MEANING else "latin"


def _held(weights: Mapping[str, float], tokens: Collection[str]) -> float:
    total = sum(weights.values())
    return sum(weights[token] for token in weights if token in tokens) / (total or 1)


def _margin(documents: Sequence[Document]) -> float:
    known = [passage_cosine(document) for document in documents]
    cosines = sorted((one for one in known if one is not None), reverse=True)
    return min(cosines[0] - cosines[1], _MOST_MARGIN) if len(cosines) > 1 else 0.0
