from dataclasses import replace
from types import SimpleNamespace

import pytest

from domain import (
    EXTRACTIVE,
    LOCAL_USER,
    Scope,
    SearchChoice,
    SearchMode,
    Turn,
    TurnState,
)
from domain.errors import ModelUnavailableError
from services.search.relevance_service import Offer, RelevanceService, Widening, offers
from tests.pages.double import NOW, citation, source

THRESHOLD = SearchMode.SIMILARITY_SCORE_THRESHOLD
CONVEX = SearchChoice(mode=SearchMode.CONVEX, k=5, score_threshold=0.3)


def turn(**changes):
    base = Turn("t1", "c1", "Why?", TurnState.COMPLETE, NOW, standalone_question="Why so?")
    return replace(base, **changes)


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


NO_ANSWER = "I found no clear answer to this question in the documents."


def unanswered(**changes):
    return turn(answer=NO_ANSWER, model=EXTRACTIVE, **changes)


@pytest.mark.parametrize("state", [one for one in TurnState if one is not TurnState.COMPLETE])
def test_an_answer_with_support_or_in_progress_has_no_explanation(build_services, state):
    relevance = build_services().relevance
    proven = turn(answer="Yes. [1]", sources=(source(),), citations=(citation(),))
    assert relevance.nothing_found(LOCAL_USER, proven) is None
    assert relevance.nothing_found(LOCAL_USER, unanswered(state=state)) is None


@pytest.mark.parametrize("by_agent", [False, True])
def test_an_answer_without_support_has_an_explanation_but_a_greeting_has_none(
    build_services, by_agent
):
    relevance = build_services().relevance
    search = SearchChoice(by_agent=by_agent)
    claim = turn(answer="It is ten days.", model="m", unsupported_sentences=1, search=search)
    assert relevance.nothing_found(LOCAL_USER, claim) is not None
    unknown = turn(answer="I do not know.", model="m", standalone_question="", search=search)
    assert relevance.nothing_found(LOCAL_USER, unknown) is not None
    greeting = turn(answer="Hello!", model="m", standalone_question="", search=search)
    assert relevance.nothing_found(LOCAL_USER, greeting) is None


def test_the_explanation_has_the_question_and_the_complete_search(build_services):
    explanation = build_services(top_k=3).relevance.nothing_found(
        LOCAL_USER, unanswered(sources=(source(),))
    )
    assert explanation.question == "Why so?"
    assert explanation.search == SearchChoice(mode=SearchMode.CONVEX, k=3)
    assert explanation.best is None


def test_if_the_minimum_excluded_everything_the_index_is_asked_for_the_best_score(imported):
    services = imported(embed=True)
    search = SearchChoice(mode=THRESHOLD, score_threshold=0.99)
    explanation = services.relevance.nothing_found(LOCAL_USER, unanswered(search=search))
    assert explanation.best is not None
    assert explanation.best < 0.99


def test_a_best_score_that_would_not_explain_anything_is_left_out(imported):
    services = imported(embed=True)
    for mode, threshold, sources in (
        (THRESHOLD, 0.99, (source(),)),  # something exceeded the minimum
        (THRESHOLD, -1.0, ()),  # nothing is below the minimum
        (SearchMode.SIMILARITY, 0.99, ()),  # this mode has no minimum
    ):
        search = SearchChoice(mode=mode, score_threshold=threshold)
        missing = unanswered(search=search, sources=sources)
        assert services.relevance.nothing_found(LOCAL_USER, missing).best is None


def test_a_library_without_documents_has_no_best_score(build_services):
    missing = unanswered(search=SearchChoice(mode=THRESHOLD))
    explanation = build_services(embed=True).relevance.nothing_found(LOCAL_USER, missing)
    assert explanation.best is None


def test_a_scope_with_a_removed_source_has_no_best_score(build_services):
    search = SearchChoice(scope=Scope(sources=("removed",)), mode=THRESHOLD)
    missing = unanswered(search=search)
    assert build_services().relevance.nothing_found(LOCAL_USER, missing).best is None


def test_without_a_reachable_embedding_there_is_no_best_score():
    def unreachable(*_args, **_options):
        raise ModelUnavailableError("The embedding can't be reached.")

    search = SimpleNamespace(
        condition=lambda *_: {}, retriever=lambda *_, **__: SimpleNamespace(invoke=unreachable)
    )
    missing = unanswered(search=SearchChoice(mode=THRESHOLD))
    explanation = RelevanceService(search, CONVEX).nothing_found(LOCAL_USER, missing)
    assert explanation.best is None
    assert explanation.offers
