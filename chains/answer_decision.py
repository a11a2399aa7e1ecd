"""Whether the best sentence found answers the question: a logistic model of ten measures.

What each measure is worth alone and together is in docs/evaluation.md; `fitting.answer_decision`
derives the coefficients.
"""

from dataclasses import astuple, dataclass
from operator import mul

from chains.answer_measures import Measures
from language.script import script_family


@dataclass(frozen=True, slots=True)
class Coefficients:
    """What each measure adds to the log-odds; 0 is where an answer is given."""

    weights: Measures
    bias: float

    def log_odds(self, measures: Measures) -> float:
        """Above 0: there is an answer."""
        return sum(map(mul, astuple(self.weights), astuple(measures)), self.bias)


BY_MEANING = {
    "latin": Coefficients(Measures(3.4, 4.1, 2.2, 4.4, 0, 2.3, -2.0, 3.6, 7.4, -1.1), -6.98),
    "korean": Coefficients(Measures(4.6, 4.3, 0.3, 0.9, 0, 0, -2.3, 7.2, 3.8, -1.3), -6.05),
    "japanese": Coefficients(Measures(2.6, 2.9, -1.1, 4.3, 0, 2.0, -2.2, 5.6, 1.2, -1.4), -3.59),
}
"""By script of the question, where the passage is in the same."""
BY_WORDS = {
    "latin": Coefficients(Measures(0, 0, 0, 0, 0, 2.6, -0.1, 3.9, 0, -1.1), -1.38),
    "korean": Coefficients(Measures(0, 0, 0, 0, 0, -0.3, -0.2, 7.8, 0, -1.4), -1.01),
    "japanese": Coefficients(Measures(0, 0, 0, 0, 0, 2.0, -1.3, 6.5, 0, -1.2), -1.86),
}
"""The same where nothing is known about meaning."""
ACROSS = Coefficients(Measures(0, 0, 13.6, 0, 6.3, 0, 0, 0, 0, 0), -5.54)
"""Where question and passage are in different scripts and can share no word."""


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
