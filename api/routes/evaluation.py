"""How well search does, measured over labelled questions.

Labelled sets in folders are measured by `cli.py evaluate` alone: a path names something on the
machine of the server, which is no business of those who hold a key to the library.
"""

from fastapi import APIRouter

from api.access import OpenServices, Reader
from api.problems import problem_responses
from api.schemas.judgements import Evaluation, GivenEvaluation, ModeFigures

router = APIRouter(tags=["evaluation"])


@router.post("/evaluation", responses=problem_responses(409, 502))
def evaluate_search(
    services: OpenServices, principal: Reader, given: GivenEvaluation
) -> Evaluation:
    """Measure the search modes over the questions that you have labelled.

    Each question for which a right passage is known is searched in each mode, in the library as it
    is.
    """
    figures = services.labels.evaluate(principal, given.modes, given.k)
    results = [ModeFigures.model_validate(row) for row in figures.rows]
    return Evaluation(results=results, notices=list(figures.notices))
