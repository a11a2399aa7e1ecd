"""Whether the best sentence found answers the question: a logistic model of eight measures.

What each measure is worth alone and together is in docs/evaluation.md; `fitting.answer_decision`
derives the coefficients.
"""

from dataclasses import astuple, dataclass
from operator import mul

from chains.answer_measures import Measures
from language.script import script_of


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What each measure adds to the log-odds; 0 is where an answer is given."""

    weights: Measures
    bias: float

    def log_odds(self, measures: Measures) -> float:
        """Above 0: there is an answer."""
        return sum(map(mul, astuple(self.weights), astuple(measures)), self.bias)


BY_MEANING = {
    "latin": Coefficients(Measures(11.1, 0, 15.1, 4.8, 1.7, 1.3, 0, 0), -9.64),
    "korean": Coefficients(Measures(7.4, 0, 5.4, 3.6, 1.8, 5.6, 0, 0), -8.68),
    "japanese": Coefficients(Measures(5.5, 0, 6.3, 2.4, 2.3, 4.1, 0, 0), -7.55),
}
"""By script of the question, where the passage is in the same."""
BY_WORDS = {
    "latin": Coefficients(Measures(0, 0, 0, 7.6, 4.4, 0, 0, 0), -4.95),
    "korean": Coefficients(Measures(0, 0, 0, 5.0, 3.5, 4.9, 0, 0), -5.75),
    "japanese": Coefficients(Measures(0, 0, 0, 3.5, 2.1, 5.2, 0, 0), -4.98),
}
"""The same where nothing is known about meaning."""
ACROSS = Coefficients(Measures(15, 0, 0, 0, 0, 0, 0, 0), -6)
"""Where question and passage are in different scripts and can share no word."""

_ALIKE = {"chinese": "japanese"}  # Han characters alone are far more often Japanese here


def log_odds(question: str, measures: Measures, passage: str, *, knows_meaning: bool) -> float:
    """The log-odds that there is an answer, moved so that one is given above 0.

    Args:
        question: Tells by its script which coefficients count.
        measures: Of the best sentence.
        passage: That sentence's passage.
        knows_meaning: Whether the cosines are those that the coefficients were fitted on.
    """
    asked, told = script_family(question), script_family(passage)
    if not knows_meaning:
        return BY_WORDS[asked].log_odds(measures)
    if asked != told:
        return ACROSS.log_odds(measures)
    return BY_MEANING[asked].log_odds(measures)


def is_foreign(question: str, passage: str) -> bool:
    """Whether they are in different scripts, and so can hardly share a word."""
    return script_family(question) != script_family(passage)


def script_family(text: str) -> str:
    """`latin`, `korean` or `japanese`, whichever coefficients a text in that script has."""
    script = script_of(text)
    script = _ALIKE.get(script, script)
    return script if script in BY_MEANING else "latin"
