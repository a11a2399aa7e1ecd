import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.command_line import run_command

ROOT = Path(__file__).parents[1]


@pytest.fixture
def run(tmp_path, model_cache):
    """Runs a command in a subprocess."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cache").symlink_to(model_cache)

    def run(*arguments, code=0, **environment):
        base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        settings = {"FOOTNOTE_DATA_DIR": str(tmp_path / "data")}
        result = run_command(arguments, ROOT, base | settings | environment)
        assert result.returncode == code, result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        return result

    return run


def test_import_then_ask_in_json(run, handbook):
    run("import", handbook)
    answer = json.loads(run("ask", "신규 입사자의 연차는 며칠인가요?", "--json").stdout)
    assert {"answer", "standalone_question", "model", "citations"} <= answer.keys()
    citation = answer["citations"][0]
    assert citation["state"] == "verified"
    assert "15일" in citation["quote"]
    assert citation["location"].endswith("휴가.md")
    assert {"n", "title", "document_id"} <= citation.keys()


def test_a_conversation_continues_by_id(run, imported):
    imported()
    first = json.loads(run("ask", "신규 입사자의 연차는 며칠인가요?", "--json").stdout)
    then = run("ask", "그럼 2년차는요?", "--conversation", first["conversation_id"], "--json")
    assert "연차" in json.loads(then.stdout)["standalone_question"]


def test_search_prints_the_location_of_each_passage(run, imported):
    imported()
    output = run("search", "WireGuard", "--mode", "bm25").stdout
    assert "vpn.md" in output
    [hit] = json.loads(run("search", "WireGuard", "--mode", "bm25", "--json").stdout)
    assert hit["title"] == "VPN"


def test_a_search_is_filtered_by_collection_and_tags(run, handbook):
    run("import", handbook, "--collection", "HR", "--label", "law", "--label", "rules")

    def search(filters, code=0):
        return run("search", "WireGuard", *filters.split(), "--json", code=code)

    filters = "--source handbook --collection HR --label law --format md --since 2020-01-01"
    best = json.loads(search(filters).stdout)[0]
    assert (best["collection"], best["labels"]) == ("HR", ["law", "rules"])
    assert json.loads(search("--until 1999-12-31").stdout) == []
    mistyped = search("--source handbuch", code=1)
    assert "There is no source 'handbuch'. Did you mean 'handbook'?" in mistyped.stderr


def test_search_says_on_stderr_why_reranking_was_skipped(run, imported):
    imported()
    broken = {"FOOTNOTE_RERANK_PROVIDER": "fastembed", "FOOTNOTE_RERANK_PATH": "/nowhere"}
    result = run("search", "WireGuard", **broken)
    assert (
        "Not reranked. The reranker Xenova/ms-marco-MiniLM-L-6-v2 can't be loaded" in result.stderr
    )
    assert "vpn.md" in result.stdout
    assert run("search", "WireGuard", "--no-rerank", **broken).stderr == ""
    assert "FOOTNOTE_RERANK_PROVIDER" in run("search", "WireGuard", "--rerank", code=1).stderr


def test_an_unreadable_file_is_reported_with_its_reason_and_exit_code(run, handbook):
    (handbook / "empty.pdf").write_bytes(b"")
    output = run("import", handbook, code=3).stdout
    assert "empty.pdf" in output
    assert "empty" in output.splitlines()[0]
    assert "completed with errors" in output


def test_an_import_report_can_be_printed_as_json(run, handbook):
    report = json.loads(run("import", handbook, "--json").stdout)
    assert report["state"] == "completed"
    assert {item["outcome"] for item in report["items"]} == {"new"}


def test_a_mass_removal_needs_confirmation(run, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Rule {number}: keep the door shut.")
    run("import", folder)
    for path in list(folder.iterdir())[1:]:
        path.unlink()
    withheld = run("import", folder, code=3).stdout
    assert f"run: python cli.py import {folder} --confirm-removals\n" in withheld
    assert "11 gone" in run("import", folder, "--confirm-removals").stdout


def test_check_and_reindex_agree(run, imported):
    imported()
    assert "all agree" in run("check").stdout
    run("reindex")
    assert json.loads(run("check", "--json").stdout)["agrees"] is True


def test_library_notices_go_to_stderr(run, imported, handbook, tmp_path):
    imported()
    result = run("search", "WireGuard", "--json", FOOTNOTE_PASSAGE_CHARS="500")
    assert "run `python cli.py reindex`, to embed 5 passages again" in result.stderr
    assert json.loads(result.stdout)

    for index in (tmp_path / "data" / "indexes").iterdir():
        index.rename(tmp_path / "lost")
    assert "is missing: rebuild it" in run("import", handbook, code=1).stderr
    assert "missing" not in run("reindex").stderr
    assert run("check").stderr == ""


def test_evaluate_prints_and_writes_a_row_for_each_mode(run, tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [{"_id": "a", "text": "annual leave"}, {"_id": "b", "text": "install the client"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    question = {"_id": "q", "text": "which leave?", "answers": ["annual leave"]}
    (folder / "queries.jsonl").write_text(json.dumps(question))
    (folder / "qrels.tsv").write_text("q\tc\ts\nq\ta\t1\n")
    figures = tmp_path / "figures.json"
    output = run("evaluate", folder, "--mode", "bm25", "--json", figures).stdout
    assert "ndcg_at_10 1.000" in output
    [row] = json.loads(figures.read_text())
    assert {"mode", "queries", "ndcg_at_10", "recall_at_5", "recall_at_10", "ms_per_query"} == set(
        row
    )
    assert "first_sentence_right 1.000" in run("evaluate", folder, "--answers").stdout


BAD_KEY = {
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_API_KEY": "sk-1 ",
    "FOOTNOTE_CHAT_MODEL": "m",
}


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["import", "/nowhere"], {}, "/nowhere"),
        (["ask", "  "], {}, "empty"),
        (["ask", "x", "--conversation", "nonsense"], {}, "nonsense"),
        (["ask", "x", "--continue"], {}, '`python cli.py ask "QUESTION"`'),
        (["search", "x"], {"FOOTNOTE_TOP_K": "0"}, "FOOTNOTE_TOP_K"),
        (["search", "x"], {"FOOTNOTE_DATA_DIR": "/proc/nope"}, "/proc/nope"),
        (["ask", "x"], {"OPENAI_BASE_URL": "localhost"}, "OPENAI_BASE_URL"),
        (["ask", "x"], BAD_KEY, "OPENAI_API_KEY is not a valid key"),
        (["evaluate", "/nowhere"], {}, "/nowhere"),
        (["evaluate", ".", "--json", "/nowhere/figures.json"], {}, "no folder /nowhere"),
        (["evaluate", ".", "--json", "."], {}, "is a folder"),
        (["search", "x"], {"FOOTNOTE_TOPK": "3"}, "FOOTNOTE_TOP_K"),
    ],
)
def test_a_failure_is_one_line_with_exit_code_1(run, arguments, environment, message):
    result = run(*arguments, code=1, **environment)
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_refused_connection_names_the_server(run, handbook):
    elsewhere = {
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": "any",
        "FOOTNOTE_EMBEDDING_BASE_URL": "http://127.0.0.1:9/v1",
    }
    result = run("import", handbook, code=1, **elsewhere)
    assert "127.0.0.1" in result.stderr


@pytest.mark.parametrize("arguments", [["impotr"], ["evaluate", ".", "--sample", "0"]])
def test_a_usage_error_has_exit_code_2(run, arguments):
    run(*arguments, code=2)


def test_ask_does_not_import_file_writers_or_transcript_libraries():
    code = (
        "import sys, bootstrap, services.chat.conversation_service, services.imports.maintenance\n"
    )
    code += "print(*{'markdown_it', 'filelock', 'tokenizers'} & {*sys.modules})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
