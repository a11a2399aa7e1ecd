from dataclasses import replace
from types import SimpleNamespace

import pytest

from domain import (
    LOCAL_USER,
    Explanation,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    Turn,
    TurnState,
)
from errors import ModelUnavailableError
from services.search.relevance_service import Offer, RelevanceService, Widening, best_cosine, offers
from tests.pages.double import NOW, citation, source

THRESHOLD = SearchMode.SIMILARITY_SCORE_THRESHOLD
CONVEX = SearchChoice(mode=SearchMode.CONVEX, k=5, score_threshold=0.3)


def sources_with(*cosines, ranker="dense"):
    return tuple(
        source(n, why=Explanation(1.0, (ScorePart(ranker, n, cosine, 0.5),)))
        for n, cosine in enumerate(cosines, start=1)
    )


def turn(**changes):
    base = Turn("t1", "c1", "Why?", TurnState.COMPLETE, NOW, standalone_question="Why so?")
    return replace(base, **changes)


def test_the_best_score_is_the_highest_stored_cosine():
    assert best_cosine(turn(sources=sources_with(0.1, 0.25, None)), CONVEX) == 0.25
    assert best_cosine(turn(sources=sources_with(7.5, ranker="bm25")), CONVEX) is None
    assert best_cosine(turn(sources=(source(),)), CONVEX) is None


def test_scores_of_mmr_are_not_cosines():
    assert (
        best_cosine(turn(sources=sources_with(1.0)), replace(CONVEX, mode=SearchMode.MMR)) is None
    )


@pytest.mark.parametrize(
    ("mode", "others"),
    [
        (SearchMode.BM25, [SearchMode.CONVEX]),
        (SearchMode.SIMILARITY, [SearchMode.CONVEX]),
        (SearchMode.CONVEX, [SearchMode.SIMILARITY, SearchMode.BM25]),
    ],
)
def test_the_other_modes_are_offered(mode, others):
    result = offers(replace(CONVEX, mode=mode), None)
    assert [(one.widening, one.search.mode) for one in result] == [
        (Widening.MODE, other) for other in others
    ]


def test_a_search_without_the_scope_is_offered():
    narrow = replace(CONVEX, scope=Scope(formats=("pdf",)))
    assert next(offers(narrow, None)) == Offer(Widening.SCOPE, CONVEX)


@pytest.mark.parametrize(
    ("best", "lower"), [(0.217, 0.21), (None, 0.15), (0.4, 0.15), (-0.1, 0.15)]
)
def test_an_offered_threshold_includes_the_nearest_passage(best, lower):
    result = list(offers(replace(CONVEX, mode=THRESHOLD), best))
    assert [one.search.score_threshold for one in result] == [lower, 0.3]


def test_a_threshold_of_zero_is_not_lowered():
    result = offers(replace(CONVEX, mode=THRESHOLD, score_threshold=0.0), None)
    assert Widening.THRESHOLD not in [one.widening for one in result]


def test_answers_with_evidence_or_unfinished_answers_have_no_explanation(build_services):
    relevance = build_services().relevance
    proven = turn(sources=sources_with(0.9), citations=(citation(),))
    assert relevance.nothing_found(LOCAL_USER, proven) is None
    for state in set(TurnState) - {TurnState.COMPLETE}:
        assert relevance.nothing_found(LOCAL_USER, turn(state=state)) is None


def test_an_answer_without_a_search_has_no_explanation(build_services):
    relevance = build_services().relevance
    greeting = turn(question="Hello!", standalone_question="")
    assert relevance.nothing_found(LOCAL_USER, greeting) is None
    by_agent = replace(greeting, search=SearchChoice(by_agent=True))
    assert relevance.nothing_found(LOCAL_USER, by_agent) is not None


def test_the_explanation_has_the_question_and_the_complete_search(build_services):
    explanation = build_services(top_k=3).relevance.nothing_found(
        LOCAL_USER, turn(sources=sources_with(0.2))
    )
    assert explanation.question == "Why so?"
    assert explanation.search == SearchChoice(mode=SearchMode.CONVEX, k=3, score_threshold=0.3)
    assert explanation.best == 0.2


def test_if_the_threshold_excluded_everything_the_index_is_asked_for_the_best_score(
    build_services, handbook
):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    search = SearchChoice(mode=THRESHOLD, score_threshold=0.99)
    explanation = services.relevance.nothing_found(LOCAL_USER, turn(search=search))
    assert explanation.best is not None
    assert explanation.best < 0.99


def test_a_library_without_documents_has_no_best_score(build_services):
    explanation = build_services(embed=True).relevance.nothing_found(LOCAL_USER, turn())
    assert explanation.best is None


def test_a_scope_with_a_removed_source_has_no_best_score(build_services):
    search = SearchChoice(scope=Scope(sources=("removed",)))
    assert build_services().relevance.nothing_found(LOCAL_USER, turn(search=search)).best is None


def test_without_a_reachable_embedding_there_is_no_best_score():
    def unreachable(*_args, **_options):
        raise ModelUnavailableError("The embedding can't be reached.")

    search = SimpleNamespace(
        condition=lambda *_: {}, retriever=lambda *_, **__: SimpleNamespace(invoke=unreachable)
    )
    explanation = RelevanceService(search, CONVEX).nothing_found(LOCAL_USER, turn())
    assert explanation.best is None
    assert explanation.offers
