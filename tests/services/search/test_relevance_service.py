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


def found(*cosines, ranker="dense"):
    return tuple(
        source(n, why=Explanation(1.0, (ScorePart(ranker, n, cosine, 0.5),)))
        for n, cosine in enumerate(cosines, start=1)
    )


def turn(**changes):
    asked = Turn("t1", "c1", "Why?", TurnState.COMPLETE, NOW, standalone_question="Why so?")
    return replace(asked, **changes)


def test_the_best_score_is_the_highest_cosine_that_was_stored():
    assert best_cosine(turn(sources=found(0.1, 0.25, None)), CONVEX) == 0.25
    assert best_cosine(turn(sources=found(7.5, ranker="bm25")), CONVEX) is None
    assert best_cosine(turn(sources=(source(),)), CONVEX) is None


def test_scores_of_mmr_are_ranks_and_no_cosines():
    assert best_cosine(turn(sources=found(1.0)), replace(CONVEX, mode=SearchMode.MMR)) is None


@pytest.mark.parametrize(
    ("mode", "others"),
    [
        (SearchMode.BM25, [SearchMode.CONVEX]),
        (SearchMode.SIMILARITY, [SearchMode.CONVEX]),
        (SearchMode.CONVEX, [SearchMode.SIMILARITY, SearchMode.BM25]),
    ],
)
def test_another_mode_is_offered(mode, others):
    given = offers(replace(CONVEX, mode=mode), None)
    assert [(one.widening, one.search.mode) for one in given] == [
        (Widening.MODE, other) for other in others
    ]


def test_everywhere_is_offered_where_the_scope_was_narrow():
    narrow = replace(CONVEX, scope=Scope(formats=("pdf",)))
    assert next(offers(narrow, None)) == Offer(Widening.SCOPE, CONVEX)


@pytest.mark.parametrize(
    ("best", "lower"), [(0.217, 0.21), (None, 0.15), (0.4, 0.15), (-0.1, 0.15)]
)
def test_a_lower_threshold_lets_the_nearest_passage_in(best, lower):
    given = list(offers(replace(CONVEX, mode=THRESHOLD), best))
    assert [one.search.score_threshold for one in given] == [lower, 0.3]


def test_a_threshold_of_nothing_cannot_be_lowered():
    given = offers(replace(CONVEX, mode=THRESHOLD, score_threshold=0.0), None)
    assert Widening.THRESHOLD not in [one.widening for one in given]


def test_an_answer_with_proof_or_without_an_end_is_no_case(build_services):
    relevance = build_services().relevance
    proven = turn(sources=found(0.9), citations=(citation(),))
    assert relevance.nothing_found(LOCAL_USER, proven) is None
    for state in set(TurnState) - {TurnState.COMPLETE}:
        assert relevance.nothing_found(LOCAL_USER, turn(state=state)) is None


def test_where_nothing_was_searched_nothing_is_missing(build_services):
    relevance = build_services().relevance
    greeted = turn(question="Hello!", standalone_question="")
    assert relevance.nothing_found(LOCAL_USER, greeted) is None
    by_agent = replace(greeted, search=SearchChoice(by_agent=True))
    assert relevance.nothing_found(LOCAL_USER, by_agent) is not None


def test_what_was_searched_is_told_as_a_whole(build_services):
    told = build_services(top_k=3).relevance.nothing_found(LOCAL_USER, turn(sources=found(0.2)))
    assert told.question == "Why so?"
    assert told.search == SearchChoice(mode=SearchMode.CONVEX, k=3, score_threshold=0.3)
    assert told.best == 0.2


def test_where_a_threshold_kept_all_out_the_nearest_is_asked_of_the_index(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    search = SearchChoice(mode=THRESHOLD, score_threshold=0.99)
    told = services.relevance.nothing_found(LOCAL_USER, turn(search=search))
    assert told.best is not None
    assert told.best < 0.99


def test_a_library_without_documents_has_no_best_score(build_services):
    told = build_services(embed=True).relevance.nothing_found(LOCAL_USER, turn())
    assert told.best is None


def test_a_scope_that_is_gone_has_no_best_score(build_services):
    gone = SearchChoice(scope=Scope(sources=("gone",)))
    assert build_services().relevance.nothing_found(LOCAL_USER, turn(search=gone)).best is None


def test_while_the_embedding_cannot_be_asked_there_is_no_best_score():
    def unreachable(*_args, **_told):
        raise ModelUnavailableError("The embedding can't be reached.")

    search = SimpleNamespace(
        condition=lambda *_: {}, retriever=lambda *_, **__: SimpleNamespace(invoke=unreachable)
    )
    told = RelevanceService(search, CONVEX).nothing_found(LOCAL_USER, turn())
    assert told.best is None
    assert told.offers
