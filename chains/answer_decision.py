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
    "latin": Coefficients(Measures(6.3, 1.7, 1.2, 5.5, 0, 2.3, -1.1, 2.7, 7.2, -1.8), -7.43),
    "korean": Coefficients(Measures(5.3, 3.7, 0, 1.4, 0, 0.1, -2.0, 6.7, 3.7, -1.5), -6.72),
    "japanese": Coefficients(Measures(3.3, 2.3, -1.5, 4.9, 0, 2.0, -2.1, 5.4, 1.1, -1.5), -4.01),
}
"""By script of the question, where the passage is in the same."""
BY_WORDS = {
    "latin": Coefficients(Measures(0, 0, 0, 0, 0, 5.1, 3.5, 1.0, 0, -1.0), -4.00),
    "korean": Coefficients(Measures(0, 0, 0, 0, 0, 2.3, 1.8, 6.8, 0, -0.5), -4.30),
    "japanese": Coefficients(Measures(0, 0, 0, 0, 0, 3.3, 0.4, 6.3, 0, -0.3), -4.41),
}
"""The same where nothing is known about meaning."""
ACROSS = Coefficients(Measures(0, 0, 13.7, 0, 6.1, 0, 0, 0, 0, 0), -6.11)
"""Where question and passage are in different scripts and can share no word."""


def log_odds(question: str, measures: Measures, passage: str, *, knows_meaning: bool) -> float:
    """The log-odds that there is an answer, moved so that one is given above 0.

    Args:
        question: Its script selects the coefficients.
        measures: Of the best sentence.
        passage: That sentence's passage.
        knows_meaning: Whether the cosines are those that the coefficients were fitted on.
    """
    script = script_family(question)
    if not knows_meaning:
        return BY_WORDS[script].log_odds(measures)
    if script != script_family(passage):
        return ACROSS.log_odds(measures)
    return BY_MEANING[script].log_odds(measures)
