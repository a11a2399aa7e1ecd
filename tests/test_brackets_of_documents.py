"""Only the answerer's numbers are citation markers, whatever brackets the documents contain.

Checked with the built-in answerer and a chat model on the page, on the command line, in both
protocols of the API, and in exported and imported files.
"""

import json
import re
from datetime import UTC, datetime
from html import unescape

import pytest
from fastapi.testclient import TestClient
from markdown_it import MarkdownIt
from typer.testing import CliRunner

import bootstrap
from api.application import make_app
from chains.citations.visible_text import FORMS, VisibleText
from cli import app
from domain import LOCAL_USER, Citation, CitationState, RetrievedPassage, Turn, TurnState
from services.export.answer_text import marker_spans
from services.export.transcripts import TranscriptFormat
from settings import load_settings
from tests.api.conftest import bearer
from tests.conftest import TEST_CLIENT
from tests.documents_with_brackets import bracket_documents
from tests.fakes.openai import MODEL, Text, serving
from ui.chat.citation_view import citation_marker, verdict_html
from ui.shared.safe_html import answer_html

pytestmark = pytest.mark.slow

DOCUMENTS = bracket_documents()
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory, model_cache):
    folder = tmp_path_factory.mktemp("data")
    (folder / "cache").symlink_to(model_cache)
    return folder


@pytest.fixture(scope="module")
def build(data_dir):
    """A factory of services over the library of this module."""

    def build(**settings):
        always = {"data_dir": data_dir, "allowed_hosts": TEST_CLIENT}
        return bootstrap.build_services(load_settings(**always, **settings))

    return build


@pytest.fixture(scope="module")
def extractive(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    for document in DOCUMENTS:
        (folder / f"{document.name}.md").write_text(document.text, encoding="utf-8")
    services = build()
    services.directories.import_directory(LOCAL_USER, folder)
    return services


@pytest.fixture(scope="module")
def with_model(extractive, build, server):
    """The same library with a chat model that answers."""
    return build(openai_base_url=server.url, chat_model=MODEL)


@pytest.fixture(scope="module")
def client(extractive):
    return TestClient(make_app(extractive), headers=bearer(extractive))


def passage_in_prompt(body):
    """The answering sentence as it appears in the prompt, and the number of its passage."""
    prompt = body["messages"][-1]["content"]
    name = re.search(r"Question: .*?([A-Z][a-z]+)(?= project| use|\?| 프로젝트|計画)", prompt)[1]
    sources = re.split(r"^\[(\d+)\] ", prompt, flags=re.MULTILINE)
    passages = zip(sources[1::2], sources[2::2], strict=True)
    number, text = next(one for one in passages if one[1].startswith(name))
    return number, next(
        line for line in text.splitlines()[1:] if name in line and "#" not in line[:1]
    )


def text_of(html):
    """The visible text, without the quotes that markers show on hover."""
    return unescape(re.sub(r"<[^>]+>", "", TIP.sub("", html)))


TIP = re.compile(r'<span class="fn-tip".*?</span></span>')


def words(text):
    return VisibleText(text).form


def require_verified(turn, document):
    """Check an answer and its page, and return the HTML of the page."""
    assert turn.citations, turn.answer
    assert {one.state for one in turn.citations} == {CitationState.VERIFIED}, turn.answer
    assert turn.unsupported_sentences == 0
    page = answer_html(turn.answer, citation_marker(turn))
    markers = list(marker_spans(turn.answer))
    assert page.count('class="fn-cite"') == len(markers)
    assert "⚠" not in page
    assert "fn-doubt" not in verdict_html(turn)
    assert {n for n, _, _ in markers} == {one.n for one in turn.citations}
    return page


@each_document
def test_the_built_in_answerer_quotes_brackets_from_documents(extractive, document):
    turn = extractive.chat.ask(LOCAL_USER, document.question)
    page = require_verified(turn, document)
    assert words(document.sentence) in words(text_of(page))
    assert len(list(marker_spans(turn.answer))) == len(turn.answer.split("\n\n"))


@each_document
def test_an_exported_and_reimported_conversation_looks_the_same(extractive, document):
    turn = extractive.chat.ask(LOCAL_USER, document.question)
    export = extractive.conversations.export
    files = {form: export(LOCAL_USER, turn.conversation_id, form) for form in TranscriptFormat}
    imported = extractive.conversations.import_json(LOCAL_USER, files[TranscriptFormat.JSON])
    [reimported_turn] = extractive.turns.list(LOCAL_USER, imported.id)
    assert require_verified(reimported_turn, document).count("fn-cite") == turn.answer.count("” [")
    html = files[TranscriptFormat.HTML].decode()
    assert html.count('<a href="#source-') == turn.answer.count("” [")
    markdown = files[TranscriptFormat.MARKDOWN].decode()
    rendered = text_of(MarkdownIt("commonmark").render(markdown))
    for text in (text_of(html), rendered):
        assert words(document.sentence) in words(text)
        assert "no such source" not in text


@each_document
def test_both_api_protocols_return_the_same_text(client, document):
    turn = client.post("/api/v1/ask", json={"question": document.question}).json()
    assert {one["state"] for one in turn["citations"]} == {"verified"}
    assert turn["unsupported_sentences"] == 0
    request = {"model": "footnote", "messages": [{"role": "user", "content": document.question}]}
    [choice] = client.post("/v1/chat/completions", json=request).json()["choices"]
    content = choice["message"]["content"]
    answer, _, sources = content.partition("\n\nSources:\n")
    assert answer == turn["answer"]
    cited = {n for line in sources.splitlines() for n, _, _ in marker_spans(line)}
    assert cited == {one["n"] for one in turn["citations"]}
    chunks = client.post("/v1/chat/completions", json=request | {"stream": True}).text
    events = [line.removeprefix("data: ") for line in chunks.splitlines() if line]
    deltas = [json.loads(one)["choices"][0]["delta"] for one in events if one != "[DONE]"]
    assert "".join(one.get("content") or "" for one in deltas) == content


@pytest.mark.parametrize("document", DOCUMENTS[::5], ids=lambda one: one.name)
def test_the_command_line_prints_the_text_without_escapes(extractive, data_dir, document):
    turn = extractive.chat.ask(LOCAL_USER, document.question)
    result = CliRunner().invoke(app, ["ask", document.question, "--data-dir", str(data_dir)])
    assert result.exit_code == 0, result.output
    assert "\\" not in result.stdout
    assert words(turn.citations[0].quote) in words(result.stdout)
    assert "no such source" not in result.stdout
    assert "without support" not in result.stdout


@each_document
def test_a_quote_with_escaped_brackets_is_verified(with_model, server, document):
    def answer(body):
        number, sentence = passage_in_prompt(body)
        return Text(f'So it is [{number}: "{sentence}"]. It says “{sentence}” [{number}].')

    server.answer = answer
    turn = with_model.chat.ask(LOCAL_USER, document.question)
    page = require_verified(turn, document)
    assert words(document.sentence) in words(text_of(page))
    assert len(list(marker_spans(turn.answer))) == 2
    assert set(turn.answer) & set(FORMS) == set(document.sentence) & set(FORMS)


@each_document
def test_a_quote_with_unescaped_brackets_is_verified(with_model, server, document):
    def answer(body):
        number, _ = passage_in_prompt(body)
        quote = document.sentence
        return Text(f'So it is [{number}: "{quote}"]. It says “{quote}” [{number}].')

    server.answer = answer
    turn = with_model.chat.ask(LOCAL_USER, document.question)
    page = require_verified(turn, document)
    assert words(document.sentence) in words(text_of(page))
    assert len(list(marker_spans(turn.answer))) == 2


def test_an_answer_stored_by_an_older_version_is_shown_unchanged():
    old = Turn(
        id="",
        conversation_id="",
        question="",
        state=TurnState.COMPLETE,
        created_at=datetime.now(UTC),
        answer="“Kim [42] and [7]” [1], `rows[1]`",
        sources=(RetrievedPassage(1, "p", "d", "Survey", "", "Kim [42] and [7]"),),
        citations=(
            Citation(42, CitationState.NO_SUCH_SOURCE, ""),
            Citation(1, CitationState.VERIFIED, "Kim [42] and [7]"),
        ),
    )
    page = answer_html(old.answer, citation_marker(old))
    assert text_of(page).strip() == "“Kim 42 ⚠ no such source and [7]” 1, rows[1]"
