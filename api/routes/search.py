"""Passages without an answer."""

from typing import TYPE_CHECKING

from fastapi import APIRouter

from api.access import OpenServices, Reader
from api.problems import problem_responses
from api.schemas.search import (
    Comparison,
    GivenComparison,
    GivenQuery,
    ModeResult,
    Narrowed,
    SearchHit,
    SearchResult,
)
from bootstrap import Services
from domain import COMPARED_MODES, Explanation, Filter, Principal
from services.explain import explain
from services.scope import together

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from services import lab

router = APIRouter(prefix="/search", tags=["search"], responses=problem_responses(409, 502))


@router.post("")
def search(services: OpenServices, principal: Reader, given: GivenQuery) -> SearchResult:
    """Find passages.

    What people dropped into their conversations is not among them.
    """
    condition = _condition(services, principal, given)
    found = services.search.search(
        principal,
        given.query,
        mode=given.mode,
        k=given.k,
        condition=condition,
        rerank=given.rerank,
        score_threshold=given.score_threshold,
    )
    why = [explain(given.query, one, condition) for one in found] if given.explain else []
    return SearchResult(
        items=[_hit(one, why[n] if why else None) for n, one in enumerate(found)],
        total=len(found),
        mode=given.mode or services.search.mode,
        notices=[*services.library.damage(), *_notices(found)],
    )


@router.post("/compare")
def compare_modes(services: OpenServices, principal: Reader, given: GivenComparison) -> Comparison:
    """Search in several modes, side by side, and tell why each passage was found.

    A mode that fails says so beside the results of the others.
    """
    condition = _condition(services, principal, given)
    modes = given.modes or COMPARED_MODES
    made = services.lab.compare(principal, given.query, modes, given.k, condition, given.rerank)
    return Comparison(
        query=made.question,
        k=made.k,
        results=[_mode_result(one) for one in made.results],
        shared=list(made.shared),
    )


def _condition(services: Services, principal: Principal, given: Narrowed) -> Filter:
    return together(services.search.condition(principal, given.scope.scope()), given.condition())


def _mode_result(result: "lab.ModeResult") -> ModeResult:
    return ModeResult(
        mode=result.mode,
        items=[_hit(one.document, one.explanation) for one in result.hits],
        milliseconds=result.milliseconds,
        error=result.error,
    )


def _hit(found: "Document", why: Explanation | None) -> SearchHit:
    held = {"passage_id": found.id, "text": found.page_content, "why": why}
    return SearchHit.model_validate(found.metadata | held)


def _notices(found: "list[Document]") -> list[str]:
    skipped = found[0].metadata.get("rerank", {}).get("skipped") if found else ""
    return [f"Not reranked. {skipped}"] if skipped else []
