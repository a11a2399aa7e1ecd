"""Each benchmark runs and reports what must be true at any size; speed is not tested."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.measure import resident_mib

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The cache for the models' graphs, built once for all parts."""
    return str(tmp_path_factory.mktemp("cache"))


def small_run(part, cache):
    module = import_module(f"benchmarks.{part}")
    report = module.measure(cache=cache, **module.SMALL)
    return {figure.name: figure.value for figure in (*report.ratios, *report.absolute)}


def test_embedding_compares_precisions_and_cores(cache):
    figures = small_run("embedding", cache)
    assert figures["int8 / fp32, one thread"] > 0
    assert any(name.startswith("multilingual-e5-small, ") and "cores" in name for name in figures)
    assert figures["cosine of int8 with fp32, minimum"] > 0.9


def test_reading_in_a_process_is_compared_with_reading_directly(cache):
    figures = small_run("reading", cache)
    assert figures["import, process / direct"] > 0
    assert figures["peak memory of the process that reads"] > 10


def test_sources_are_imported_by_several_workers(cache):
    figures = small_run("parallel_imports", cache)
    assert figures["remote: 1 worker / 2 workers"] > 0
    assert figures["embedded, all cores for each worker: 1 worker / 2 workers"] > 0


def test_dense_search_matches_exact_search(cache):
    figures = small_run("dense_search", cache)
    recalls = [value for name, value in figures.items() if "recall" in name]
    assert recalls == [1.0, 1.0, 1.0]
    assert figures["500: FAISS flat, p50"] > 0


def test_an_unchanged_site_embeds_nothing_and_faults_lose_no_page(cache):
    figures = small_run("confluence", cache)
    assert figures["unchanged, passages embedded"] == 0
    assert figures["unchanged, requests"] < figures["first import, requests"] / 10
    assert figures["faults injected"] == 20
    assert figures["pages lost, doubled, left or of another version"] == 0
    assert figures["network gone: pages read before the import was interrupted"] > 0
    assert figures["permissions of all pages changed: pages read"] == 0
    assert figures["permissions of all pages changed: passages embedded"] == 0


def test_keyword_search_mostly_agrees_with_rank_bm25(cache):
    figures = small_run("keyword_search", cache)
    assert figures["300: overlap with rank_bm25's top 20"] > 0.5


def test_vector_stores_match_exact_search_within_the_filter(cache):
    module = import_module("benchmarks.vector_stores")
    table = module.measure(cache=cache, **module.SMALL).tables[0]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    own = next(row for row in rows if row[""] == "Footnote")
    assert (own["recall@20"], own["1 %, recall@20"]) == (1.0, 1.0)
    assert [row["outside the filter"] for row in rows] == [0] * len(rows)
    assert {row[""] for row in rows} >= {"Footnote", "NumPy product", "FAISS HNSW"}


def test_hybrid_search_is_compared_with_that_of_langchain(cache):
    figures = small_run("hybrid_search", cache)
    assert figures["300: EnsembleRetriever / Footnote, p50"] > 0


def test_catalog_search_is_compared_with_numpy(cache):
    figures = small_run("catalog", cache)
    assert figures["all places: p50 / NumPy's p50"] > 1
    assert figures["a whole answer, as each question is understood: p50 / NumPy's p50"] > 1


def test_the_shares_of_an_import_add_up(cache):
    figures = small_run("import_run", cache)
    shares = [value for name, value in figures.items() if name.startswith("share of")]
    assert sum(shares) == pytest.approx(100)
    assert all(share > 0 for share in shares)


@pytest.mark.skipif(
    not resident_mib(), reason="this system does not report the memory of a process"
)
def test_memory_grows_from_bare_python_to_services_after_an_answer(cache):
    figures = small_run("memory", cache)
    steps = [
        "Python alone",
        "command line, before any question",
        "200: services, after the questions",
    ]
    assert [figures[step] for step in steps] == sorted(figures[step] for step in steps)


def test_a_question_is_compared_with_importing_its_libraries(cache):
    figures = small_run("ask", cache)
    assert figures["a question"] > 0
    assert figures["a question / importing its libraries"] == pytest.approx(
        figures["a question"] / figures["importing its libraries"]
    )


def test_questions_without_a_model_are_timed_in_three_languages(cache):
    figures = small_run("answering", cache)
    for language in ("en", "ja", "ko", "all"):
        (p50,) = (value for name, value in figures.items() if name.startswith(f"{language}: p50"))
        assert 0 < p50 <= figures[f"{language}: p95"]
    assert figures["p95 of all / the bound of 400 ms"] == figures["all: p95"] / 400


def test_one_command_runs_a_part_and_writes_its_figures(tmp_path):
    file = tmp_path / "figures.json"
    command = ["-m", "benchmarks", "--small", "--only", "keyword_search", "--json", str(file)]
    result = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.index("RATIOS") < result.stdout.index("ABSOLUTE FIGURES")
    parts = json.loads(file.read_text())["parts"]
    assert list(parts) == ["keyword_search"]
    assert parts["keyword_search"]["ratios"][0]["value"] > 0


def test_all_api_clients_receive_their_answers(cache):
    figures = small_run("api", cache)
    assert figures["answers"] >= 4
    assert figures["answers that failed"] == 0
    assert figures["added to the first token, p50"] > 0
    assert figures["memory of the API at 3 s"] > 0


def test_host_checks_are_measured_with_and_without(cache):
    figures = small_run("host_check", cache)
    assert figures["the check and its headers, called"] > 0
    assert figures["a request over HTTP with the check, p50"] > 0


def test_words_in_conversations_are_searched_in_time_and_memory(cache):
    figures = small_run("conversation_words", cache)
    for search in ("a word of every conversation", "a word of no conversation"):
        assert figures[f"{search}, p50"] > 0
        assert figures[f"{search}, memory"] > 0


def test_logging_is_compared_with_a_question_and_an_import(cache):
    figures = small_run("logs", cache)
    for work in ("a warm question", "an import of the samples"):
        assert 0 < figures[f"logging in {work}"] < figures[work]
        share = 100 * figures[f"logging in {work}"] / figures[work]
        assert figures[f"share of logging in {work}"] == pytest.approx(share)
        assert figures[f"share of logging in {work} / the bound of 10 %"] == pytest.approx(
            share / 10
        )
