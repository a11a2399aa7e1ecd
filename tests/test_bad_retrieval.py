"""Invalid searches, and rerankers that are down, slow, or broken.

Each is rejected with a message or falls back as documented, without a wrong answer or a crash.
"""

import math
import random

import pytest
from typer.testing import CliRunner

import cli
from domain import FILTER_FIELDS, LOCAL_USER, Outcome, Scope, SearchMode
from domain.errors import AppError, ConfigError, InputError
from retrievers.ensemble import EnsembleRetriever
from retrievers.rankers import ConvexRanker, combine_convex, fuse_reciprocal_ranks
from services.search.search_service import explain
from settings import load_settings
from tests.fakes.reranker import Reply, reranking

pytestmark = pytest.mark.slow

QUESTION = "annual leave of new employees"
MODES = list(SearchMode)
NAN = math.nan


@pytest.fixture
def library(imported):
    return imported(embed=True)


def command(services, *arguments):
    """Run `cli.py search`, which must not fail with an unexpected exception."""
    folder = str(services.parts.settings.data_dir)
    result = CliRunner().invoke(cli.app, ["search", *arguments, "--data-dir", folder])
    assert isinstance(result.exception, AppError | SystemExit | None), repr(result.exception)
    return result


def ids(passages):
    return [passage.id for passage in passages]


# k


@pytest.mark.parametrize("k", [-1, 0, 10_000])
@pytest.mark.parametrize("mode", MODES)
def test_the_service_rejects_a_k_out_of_range_and_states_the_range(library, mode, k):
    with pytest.raises(InputError, match=rf"between 1 and 1,000, not {k}"):
        library.search.search(LOCAL_USER, QUESTION, mode=mode, k=k)


def test_a_retriever_rejects_a_k_below_one_when_built_and_when_called(library):
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        library.search.retriever(LOCAL_USER, k=0)
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        library.search.retriever(LOCAL_USER).invoke(QUESTION, k=0)


@pytest.mark.parametrize("mode", MODES)
def test_a_retriever_with_k_10_000_returns_each_passage_once(library, mode):
    built = library.search.retriever(LOCAL_USER, mode=mode, k=10_000).invoke(QUESTION)
    called = library.search.retriever(LOCAL_USER, mode=mode).invoke(QUESTION, k=10_000)
    assert ids(built) == ids(called)
    assert len(set(ids(built))) == len(built)
    assert len(built) <= library.maintenance.status(LOCAL_USER).passages
    usual = library.search.retriever(LOCAL_USER, mode=mode, k=2).invoke(QUESTION)
    assert mode is SearchMode.MMR or ids(built)[:2] == ids(usual)  # its candidates grow with k


@pytest.mark.parametrize("k", ["0", "10000", "many"])
def test_the_command_reports_a_k_out_of_range_as_a_usage_error(library, k):
    result = command(library, QUESTION, "-k", k)
    assert result.exit_code == 2
    assert "-k" in result.output


# Weights


@pytest.mark.parametrize("weight", [2, -0.1, NAN])
def test_an_invalid_dense_weight_is_rejected_at_every_entry_point(weight):
    with pytest.raises(ConfigError, match="FOOTNOTE_DENSE_WEIGHT"):
        load_settings(dense_weight=weight)
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        ConvexRanker(lambda *_: [], lambda *_: [], weight)
    with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
        combine_convex([("a", 1.0)], [("b", 1.0)], dense_weight=weight)


def test_the_command_names_the_variable_of_an_invalid_dense_weight(library, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_DENSE_WEIGHT", "2")
    result = command(library, QUESTION)
    assert isinstance(result.exception, ConfigError)
    assert "FOOTNOTE_DENSE_WEIGHT" in str(result.exception)


@pytest.mark.parametrize("weights", [[], [1.0], [1.0, 1.0, 1.0]])
def test_the_number_of_weights_must_match_the_lists_at_every_entry_point(library, weights):
    base = library.search.retriever(LOCAL_USER)
    with pytest.raises(ValueError, match="2 lists need as many weights"):
        EnsembleRetriever(retrievers=[base, base], weights=weights)
    with pytest.raises(ValueError, match="2 lists need as many weights"):
        fuse_reciprocal_ranks({"a": [("x", 1.0)], "b": []}, weights=weights)


@pytest.mark.parametrize("weight", [-1.0, NAN, math.inf])
def test_weights_that_cannot_be_normalized_are_rejected(weight):
    with pytest.raises(ValueError, match="finite and not negative"):
        fuse_reciprocal_ranks({"a": [("x", 1.0)], "b": []}, weights=[1.0, weight])


@pytest.mark.parametrize("score", [NAN, math.inf, -math.inf])
def test_nan_and_infinite_scores_are_not_fused(score):
    with pytest.raises(ValueError, match="not a finite number"):
        combine_convex([("a", score), ("b", 0.1)], [("a", 1.0)], dense_weight=0.5)


# Filters


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("field", ["fromat", "", "text"])
def test_an_unknown_filter_field_is_reported_with_the_known_ones(library, mode, field):
    for ask in (library.search.search, lambda *a, **b: library.search.retriever(a[0], **b)):
        with pytest.raises(InputError) as caught:
            ask(LOCAL_USER, QUESTION, mode=mode, condition={field: "md"})
        assert repr(field) in str(caught.value)
        assert all(name in str(caught.value) for name in FILTER_FIELDS)


@pytest.mark.parametrize(
    "condition",
    [{"format": {"$near": "md"}}, {"format": {"$in": "md"}}, {"page": {"$gt": None}}],
)
def test_an_operator_that_does_not_apply_is_rejected(library, condition):
    with pytest.raises(InputError, match="Filter on"):
        library.search.search(LOCAL_USER, QUESTION, condition=condition)


def test_the_command_rejects_unknown_filters_and_sources(library):
    assert command(library, QUESTION, "--fromat", "md").exit_code == 2
    result = command(library, QUESTION, "--source", "handbok")
    assert "Did you mean 'handbook'" in str(result.exception)
    result = command(library, QUESTION, "--since", "yesterday")
    assert "since is not a date: 'yesterday'" in str(result.exception)
    assert command(library, QUESTION, "--since", "2026-11-21").exit_code == 0
    assert "since is not a date" in str(command(library, QUESTION, "--since", "soon").exception)


@pytest.mark.parametrize("mode", MODES)
def test_a_filter_value_that_never_occurs_finds_nothing(library, mode):
    assert library.search.search(LOCAL_USER, QUESTION, mode=mode, condition={"format": "x"}) == []


# Empty libraries


@pytest.mark.parametrize("mode", MODES)
def test_a_search_before_the_first_import_finds_nothing(build_services, mode):
    services = build_services(embed=True)
    assert services.search.search(LOCAL_USER, QUESTION, mode=mode) == []
    assert services.search.retriever(LOCAL_USER, mode=mode).invoke(QUESTION, k=10_000) == []
    assert "Nothing found." in command(services, QUESTION, "--mode", mode, "--explain").output
    assert command(services, QUESTION, "--mode", mode, "--explain", "--json").stdout == "[]\n"


@pytest.mark.parametrize("mode", MODES)
def test_an_emptied_library_finds_nothing(library, handbook, mode):
    for page in handbook.iterdir():
        page.unlink()
    report = library.directories.import_directory(LOCAL_USER, handbook, confirm_removals=True)
    assert report.count(Outcome.REMOVED) == 4
    assert library.search.search(LOCAL_USER, QUESTION, mode=mode) == []
    scoped = library.search.condition(LOCAL_USER, Scope(formats=["md"]))
    assert library.search.search(LOCAL_USER, QUESTION, mode=mode, condition=scoped) == []
    assert library.chat.ask(LOCAL_USER, QUESTION).sources == ()


# Questions


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", ["", " \n\t", "\u3000"])
def test_an_empty_question_is_rejected_in_every_mode(library, mode, question):
    with pytest.raises(InputError, match="query is empty"):
        library.search.search(LOCAL_USER, question, mode=mode)


def test_the_command_rejects_an_empty_question(library):
    assert "query is empty" in str(command(library, " ", "--explain").exception)


@pytest.mark.parametrize("mode", MODES)
def test_a_retriever_does_not_crash_on_an_empty_question(library, mode):
    passages = library.search.retriever(LOCAL_USER, mode=mode).invoke("")
    assert mode is not SearchMode.BM25 or passages == []


@pytest.mark.parametrize("mode", MODES)
def test_a_question_of_100_000_characters_is_searched_and_explained(library, mode):
    noise = "".join(random.Random(3).choices("qxzj ", k=100_000 - len("WireGuard ")))
    question = "WireGuard " + noise
    hits = library.search.search(LOCAL_USER, question, mode=mode, k=9)
    for hit in hits:
        explanation = explain(question, hit)
        assert sum(part.share for part in explanation.parts) == pytest.approx(explanation.score)
    if mode is SearchMode.BM25:
        assert [hit.metadata["key"] for hit in hits] == ["vpn.md"]


def test_the_built_in_embedding_handles_100_000_characters(imported):
    services = imported()
    for mode in (SearchMode.SIMILARITY, SearchMode.CONVEX):
        question = ("annual leave " * 7693)[:100_000]
        best = services.search.search(LOCAL_USER, question, mode=mode)[0]
        assert best.metadata["key"] == "leave.md"


# Rerankers


@pytest.mark.parametrize(
    "reply",
    [
        Reply(hangs=True),
        Reply(drips=True),
        Reply(breaks=True),
        Reply("overloaded", 503),
        Reply("<html>", 200),
        Reply({"results": []}),
    ],
    ids=["hangs", "drips", "breaks", "overloaded", "no json", "no scores"],
)
@pytest.mark.parametrize("mode", [SearchMode.CONVEX, SearchMode.BM25])
def test_a_slow_or_broken_reranker_keeps_the_order_and_gives_the_reason(imported, reply, mode):
    with reranking() as server:
        server.will(*[reply] * 9)
        services = imported(embed=True, **hosted(server.url), rerank_budget_s=0.3)
        assert_unreranked(services, mode)


def test_an_unreachable_reranker_keeps_the_order_and_the_command_says_so(imported, monkeypatch):
    with reranking() as server:
        url = server.url
    services = imported(embed=True, **hosted(url))
    assert_unreranked(services, SearchMode.CONVEX)
    for name, value in hosted(url).items():
        monkeypatch.setenv(f"FOOTNOTE_{name.upper()}", value)
    result = command(services, "WireGuard", "--mode", "bm25", "--explain")
    assert (result.exit_code, result.output.count("not reranked: ")) == (0, 1)
    assert "Footnote: Not reranked. " in result.output


def hosted(url):
    return {"rerank_provider": "http", "rerank_url": url, "rerank_model": "rank-3"}


def assert_unreranked(services, mode):
    plain = services.search.search(LOCAL_USER, QUESTION, mode=mode, rerank=False)
    hits = services.search.search(LOCAL_USER, QUESTION, mode=mode)
    assert hits
    assert ids(hits) == ids(plain)
    for hit in hits:
        assert len(explain(QUESTION, hit).move.skipped) > 10
