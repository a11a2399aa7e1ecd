"""The examples of docs/api.md, run against the real `cli.py api`."""

import json
import re
import shutil
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from services.texts import MAX_K, MAX_QUESTION_CHARS
from settings import load_settings
from tests.docs_examples import LAPSE, QUOTE, WAIT_S, Page, desk_over_handbook, running, serving_api
from tests.fakes.restaurants import write_restaurants
from tests.fakes.server_thread import serving_in_thread

pytestmark = pytest.mark.slow

PAGE = Page("api.md")
CURL = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


@pytest.fixture(scope="module")
def desk(tmp_path_factory, model_cache):
    """A folder with the page's programs and a library of two documents."""
    return desk_over_handbook(PAGE, tmp_path_factory, model_cache)


@pytest.fixture(scope="module")
def api(desk):
    """The desk, with the API's URL and key set by the page's own commands."""
    with serving_api(desk) as url:
        _set_api(desk, url)
        yield desk


@pytest.fixture(scope="module")
def places(tmp_path_factory, model_cache):
    """Another desk, with the API over a catalog added by the page's own command."""
    desk = desk_over_handbook(PAGE, tmp_path_factory, model_cache)
    write_restaurants(desk.folder / "restaurants")
    desk.sh(PAGE.command("catalog add"))
    with serving_api(desk) as url:
        _set_api(desk, url)
        yield desk


@CURL
def test_the_api_description_needs_no_key(api):
    api.sh(PAGE.command("openapi.json"))
    description = json.loads((api.folder / "openapi.json").read_text())
    assert description["openapi"].startswith("3.1")


@CURL
def test_a_question_with_curl_returns_the_whole_turn(api):
    turn = json.loads(api.sh(PAGE.command("api/v1/ask")))
    assert (turn["state"], turn["citations"][0]["state"]) == ("complete", "verified")
    assert turn["citations"][0]["quote"] == QUOTE


def test_a_streamed_answer_ends_with_its_verified_citation(api):
    output = api.sh(PAGE.command("ask.py"))
    expected = PAGE.text.split("```text\n")[1].split("```")[0]
    assert output.startswith("Searching for: How many days of annual leave do new employees get?\n")
    for line in expected.splitlines():
        assert line in output


def test_the_client_exits_with_a_reason_when_a_question_is_refused(api):
    assert "question" in api.python("ask.py", " ", code=1)


def test_a_search_shows_the_words_and_the_share_of_each_list(api):
    output = api.python("search.py")
    assert "  VPN  " in output.splitlines()[0]
    assert "words: " in output
    assert "WireGuard" in output
    assert re.search(r"bm25: rank 1, adds 0\.\d+", output)


def test_a_conversation_is_continued_rated_renamed_found_and_exported(api):
    output = api.python("conversation.py")
    assert LAPSE in output
    assert re.search(r"^[0-9a-f]{32} Annual leave$", output, flags=re.MULTILINE)
    assert "31 March" in (api.folder / "annual-leave.md").read_text(encoding="utf-8")


@CURL
def test_a_catalog_question_is_weighted_by_the_preferences_of_the_request(places):
    output = json.loads(places.sh(PAGE.command("/chat/search")))
    assert output["understood"]["filters"]["desired_types"] == ["italian_restaurant"]
    weights = {"price": 0.1, "ambience": 0.9, "food": 0.6, "service": 0.4}
    assert output["weights"].items() >= weights.items()
    assert output["restaurants"][0]["place"]["title"] == "Trattoria Lucia"
    assert {cited["state"] for cited in output["citations"]} == {"verified"}


def test_places_are_searched_for_a_person_and_without_a_filter(places):
    near, anywhere = places.sh(PAGE.command("places.py")).split("Anywhere:")
    assert "Filters: {'borough_en': 'Brooklyn', 'desired_types': ['italian_restaurant']}" in near
    assert "'service': 0.4" in near
    assert re.search(r"= hybrid \d\.\d\d \+ confidence .*: Trattoria Lucia$", near, re.MULTILINE)
    assert "local reviews praise the ambience" in near
    assert "Pasta Pronto" not in near
    assert "Pasta Pronto" in anywhere


def test_the_client_exits_with_a_reason_when_the_catalog_is_missing(api):
    assert "catalog add" in api.python("places.py", "Italian", code=1)


def test_a_folder_is_dry_run_imported_and_monitored(api):
    manual = api.folder / "manual"
    (manual / "drafts").mkdir(parents=True)
    (manual / "lift.md").write_text("# Lift\n\nThe lift is inspected every spring.\n")
    (manual / "tool.exe").write_bytes(b"MZ")
    (manual / "drafts" / "new.md").write_text("# Draft\n\nNothing yet.\n")
    with running(api, "worker"):
        _wait_for_worker(api)
        output = api.sh(PAGE.command("import_folder.py").replace("~/handbook", "~/manual"))
    assert "1 documents, such as lift.md" in output
    assert "Dry run: {'new': 1" in output
    assert "completed: 1 passages" in output
    assert "  new: lift.md" in output
    assert "drafts" not in output


def test_the_client_says_that_no_worker_runs(api):
    manual = api.folder / "second"
    manual.mkdir()
    (manual / "roof.md").write_text("# Roof\n\nNobody goes up.\n")
    assert "is a worker running" in api.python("import_folder.py", manual, code=1)


@CURL
def test_files_are_uploaded_with_curl_and_queued(api):
    output = json.loads(api.sh(PAGE.command("/uploads")))
    assert (output["accepted"], output["refused"]) == (["parking.md"], [])
    assert output["queued"]["state"] == "queued"
    assert _get(api, f"/sources/{output['source_id']}")["name"] == "Building"


def test_a_permanent_problem_is_reported(api):
    assert "no conversation" in api.python("patient.py", code=1)


def test_a_transient_problem_is_retried_after_the_stated_time(api):
    with _busy_server() as (url, paths):
        output = api.python("patient.py", code=1, FOOTNOTE_URL=url)
    assert paths == ["/api/v1/library", "/api/v1/library", "/api/v1/ask"]
    assert "Not Found: gone" in output


def test_the_openai_client_reads_citations_in_the_text_and_as_a_field(api):
    output = api.python("openai_client.py")
    assert "Models: footnote, multilingual-e5-small" in output
    assert f'Sources:\n[1] Leave policy: "{QUOTE}"' in output
    assert re.search(r"^1 verified Leave policy \d+ \d+$", output, flags=re.MULTILINE)


def test_the_openai_client_streams_and_receives_the_evidence_last(api):
    output = api.python("openai_stream.py")
    assert LAPSE in output
    assert "Searched for: " in output
    assert "(1, 'verified')" in output.splitlines()[-1]


def test_the_responses_api_streams_and_sends_the_evidence_last(api):
    output = api.python("openai_responses.py")
    assert QUOTE in output
    assert output.splitlines()[-1] == "Citations: [(1, 'verified')]"


def test_langchain_keeps_the_citations_and_uses_the_embeddings_of_the_index(api):
    output = api.python("langchain_client.py")
    assert f"1 verified {QUOTE}" in output
    assert output.splitlines()[-2:] == ["From: {'VPN'}", "384 dimensions"]


def test_the_table_of_operations_is_complete(api):
    paths = httpx.get(f"{api.environment['FOOTNOTE_URL']}/api/v1/openapi.json").json()["paths"]
    operations = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in paths.items()
        for method in methods
        if path.startswith("/api/v1")
    }
    table = PAGE.text.split("## What is where")[1].split("## ")[0]
    rows = re.findall(r"`([A-Z, ]+) (/[^`]+)`", table)
    documented = {f"{method} {path}" for methods, path in rows for method in methods.split(", ")}
    assert documented == operations


def test_the_documented_limits_match_the_settings():
    limits, settings = PAGE.text.split("## Limits")[1].split("## ")[0], load_settings()
    for name in ("api_requests_per_minute", "api_answers", "max_file_mb"):
        [row] = [line for line in limits.splitlines() if f"`FOOTNOTE_{name.upper()}`" in line]
        assert re.search(rf"\b{getattr(settings, name)}\b", row)
    assert f"{MAX_QUESTION_CHARS:,} characters" in limits
    assert f"{MAX_K:,} |" in limits


def _set_api(desk, url):
    command = PAGE.command("api-key create").replace("http://127.0.0.1:8600", url)
    output = desk.sh(f'{command}\nprintf "%s\\n" "$FOOTNOTE_API_KEY"')
    assert "my program" in output
    desk.environment |= {"FOOTNOTE_URL": url, "FOOTNOTE_API_KEY": output.splitlines()[-1]}


def _get(api, path):
    headers = {"Authorization": f"Bearer {api.environment['FOOTNOTE_API_KEY']}"}
    url = f"{api.environment['FOOTNOTE_URL']}/api/v1{path}"
    return httpx.get(url, headers=headers, timeout=WAIT_S).raise_for_status().json()


def _wait_for_worker(api):
    deadline = time.monotonic() + WAIT_S
    while not _get(api, "/library")["has_worker"]:
        assert time.monotonic() < deadline, "no worker started"
        time.sleep(0.1)


@contextmanager
def _busy_server():
    """A server that is busy at the first request and has no /ask, and the requested paths."""
    paths = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def answer(self):
            self.rfile.read(int(self.headers.get("content-length") or 0))
            paths.append(self.path)
            if self.path.endswith("/ask"):
                self.send(404, {"title": "Not Found", "detail": "gone", "retryable": False})
            elif len(paths) == 1:
                self.send(503, {"title": "Busy", "detail": "wait", "retryable": True})
            else:
                self.send(200, {"documents": 4})

        do_GET = do_POST = answer

        def send(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Retry-After", "1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    with serving_in_thread(server):
        yield f"http://127.0.0.1:{server.server_address[1]}", paths
