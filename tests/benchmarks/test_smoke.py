"""Each benchmark still runs and finds what must be true at any size. How fast is not tested."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import PARTS, read, write
from benchmarks.contest import Contender, contest
from benchmarks.growth import GROWTH
from benchmarks.measure import Report, Times, compare, resident_mib

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Where the model's graphs are built, once for all parts."""
    return str(tmp_path_factory.mktemp("cache"))


def small_run(part, cache):
    module = import_module(f"benchmarks.{part}")
    report = module.measure(cache=cache, **module.SMALL)
    return {figure.name: figure.value for figure in (*report.ratios, *report.absolute)}


def test_embedding_compares_precisions_and_cores(cache):
    found = small_run("embedding", cache)
    assert found["int8 / fp32, one thread"] > 0
    assert any(name.startswith("multilingual-e5-small, ") and "cores" in name for name in found)
    assert found["cosine of int8 with fp32, least"] > 0.9


def test_dense_search_finds_all_that_exact_search_finds(cache):
    found = small_run("dense_search", cache)
    recalls = [value for name, value in found.items() if "recall" in name]
    assert recalls == [1.0, 1.0, 1.0]
    assert found["500: FAISS flat, p50"] > 0


def test_an_unchanged_site_embeds_nothing_and_faults_lose_no_page(cache):
    found = small_run("confluence", cache)
    assert found["unchanged, passages embedded"] == 0
    assert found["unchanged, requests"] < found["first import, requests"] / 10
    assert found["faults injected"] == 20
    assert found["pages lost, doubled, left or of another version"] == 0
    assert found["network gone: pages read before the import was interrupted"] > 0


def test_keyword_search_mostly_agrees_with_rank_bm25(cache):
    found = small_run("keyword_search", cache)
    assert found["300: share of rank_bm25's best 20"] > 0.5


def test_vector_stores_find_what_exact_search_finds_and_nothing_outside_the_filter(cache):
    module = import_module("benchmarks.vector_stores")
    table = module.measure(cache=cache, **module.SMALL).tables[0]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    ours = next(row for row in rows if row[""] == "Footnote")
    assert (ours["recall@20"], ours["1 %, recall@20"]) == (1.0, 1.0)
    assert [row["outside the filter"] for row in rows] == [0] * len(rows)
    assert {row[""] for row in rows} >= {"Footnote", "NumPy product", "FAISS HNSW"}


def test_hybrid_search_is_compared_with_langchains(cache):
    found = small_run("hybrid_search", cache)
    assert found["300: EnsembleRetriever / Footnote, p50"] > 0


def test_catalogue_search_is_compared_with_the_dense_search_alone(cache):
    found = small_run("catalogue", cache)
    assert found["all places: p50 / dense search alone"] > 1
    assert found["a whole answer, as each question is understood: p50 / dense search alone"] > 1


def test_a_contender_whose_package_is_missing_is_named(tmp_path, monkeypatch):
    module = import_module("benchmarks.keyword_search")
    absent = Contender(module.open_bm25s, module.build_bm25s, "no_such_package")
    monkeypatch.setattr(module, "CONTENDERS", {"somebody's": absent})
    outcomes, notes = contest(module.__name__, tmp_path, size=1, apart=False, budget_s=1)
    assert outcomes == {}
    assert notes == ["somebody's took no part: no_such_package is not installed"]


def test_the_shares_of_an_import_add_up_to_all_of_it(cache):
    found = small_run("import_run", cache)
    shares = [value for name, value in found.items() if name.startswith("share of")]
    assert sum(shares) == pytest.approx(100)
    assert all(share > 0 for share in shares)


@pytest.mark.skipif(not resident_mib(), reason="this system doesn't tell a process its memory")
def test_memory_grows_from_a_bare_python_to_services_that_answered(cache):
    found = small_run("memory", cache)
    steps = ["Python alone", "command line, nothing asked", "200: services, questions asked"]
    assert [found[step] for step in steps] == sorted(found[step] for step in steps)


def test_a_question_is_compared_with_importing_its_libraries(cache):
    found = small_run("ask", cache)
    assert found["a question"] > 0
    assert found["a question / importing its libraries"] == pytest.approx(
        found["a question"] / found["importing its libraries"]
    )


def test_questions_without_a_model_are_timed_in_three_languages(cache):
    found = small_run("answering", cache)
    for language in ("en", "ja", "ko", "all"):
        (p50,) = (value for name, value in found.items() if name.startswith(f"{language}: p50"))
        assert 0 < p50 <= found[f"{language}: p95"]
    assert found["p95 of all / the bound of 400 ms"] == found["all: p95"] / 400


def test_one_command_runs_a_part_and_writes_its_figures(tmp_path):
    file = tmp_path / "figures.json"
    command = ["-m", "benchmarks", "--small", "--only", "keyword_search", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.index("RATIOS") < done.stdout.index("ABSOLUTE FIGURES")
    parts = json.loads(file.read_text())["parts"]
    assert list(parts) == ["keyword_search"]
    assert parts["keyword_search"]["ratios"][0]["value"] > 0


def test_saved_figures_are_shown_again_as_they_were(tmp_path):
    report = Report("Keyword search", "on two texts")
    report.table(f"Keyword search: {GROWTH}", ["", "10", "20", "20 / 10"], [["Us", 1.0, 2.0, 2.0]])
    report.ratio("theirs / ours", 3.0)
    write(tmp_path / "figures.json", "a machine", {"keyword_search": report}, small=True)
    where, reports = read(tmp_path / "figures.json")
    assert (where, reports) == ("a machine", {"keyword_search": report})


def test_every_part_can_be_named():
    assert all(hasattr(import_module(f"benchmarks.{part}"), "measure") for part in PARTS)


def test_percentiles_are_times_that_were_measured():
    times = Times([float(n) for n in range(100, 0, -1)])
    assert (times.p50, times.p95) == (51.0, 95.0)


def test_a_comparison_asks_everyone_everything():
    asked = []
    compare({"a": asked.append, "b": asked.append}, [1, 2], rounds=2)
    assert asked == [1, 1, 2] * 4


def test_clients_that_ask_the_api_all_get_their_answers(cache):
    found = small_run("api", cache)
    assert found["answers"] >= 4
    assert found["answers that failed"] == 0
    assert found["added to the first token, p50"] > 0
    assert found["memory of the API at 3 s"] > 0


def test_checking_hosts_is_measured_with_and_without(cache):
    found = small_run("host_check", cache)
    assert found["the check and its headers, called"] > 0
    assert found["a request over HTTP with the check, p50"] > 0
