"""Markup in every text that other people or a model write is text on every page and in exports."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

import bootstrap
from domain import (
    LOCAL_USER,
    Citation,
    CitationState,
    Conversation,
    RetrievedPassage,
    Step,
    StepState,
    Turn,
    TurnState,
)
from services.export.transcript_json import to_json
from services.export.transcripts import TranscriptFormat
from services.sources.source_service import SourceSettings
from settings import load_settings
from storage.ledger.ledger_tables import TurnRow
from tests.browser.actions import ask, press, settle, typing_box
from tests.browser.program import running
from tests.fakes.openai import EMBEDDING_MODEL, Fault, OpenAIServer, Text, serving
from tests.fakes.restaurants import PLACES, import_restaurants
from tests.live_markup import PAYLOADS
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = ("", "library", "imports", "retrieval_lab", "catalogue", "status", "app_settings")
MODEL = PAYLOADS[3]
NOW = datetime(2026, 11, 26, tzinfo=UTC)
REFUSAL = f"refused {PAYLOADS[3]}"
EARLIER = re.compile("earlier question")
QUESTION = "What does the kettle manual say?"
FOUND = """() => {
  const found = [...document.querySelectorAll(".xss, [data-xss]")].map((one) => one.outerHTML);
  if (window.pwned) found.push("a script ran");
  for (const element of document.querySelectorAll("*")) {
    const isLink = element.matches("a:not(.fn-answer a)");  // documents may link to the web
    for (const { name, value } of element.attributes) {
      const isAddress = /^(href|src|srcset|action|formaction|data|poster|xlink:href)$/i.test(name);
      const isHostile = isLink ? /^\\s*(javascript|data)/i : /javascript|data:text|evil\\.example/i;
      if (/^on/i.test(name) || (isAddress && isHostile.test(value)))
        found.push(`${element.tagName} ${name}=${value}`);
    }
  }
  return found;
}"""


@dataclass
class Hostile:
    """The running program, its model, and what its library contains."""

    address: str
    model: OpenAIServer
    conversation: str
    document: str
    html: Path


@pytest.fixture(scope="module")
def hostile(
    chromium: str, clean_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hostile]:
    """The program over a library in which every text is markup."""
    folder = tmp_path_factory.mktemp("markup")
    with serving() as model:
        conversation, document = fill(folder, model.url)
        environment = {
            "FOOTNOTE_DATA_DIR": str(folder / "data"),
            "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
            "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
            "FOOTNOTE_EMBEDDING_BASE_URL": model.url,
            "OPENAI_BASE_URL": model.url,
            "FOOTNOTE_CHAT_MODEL": MODEL,
        }
        with running(clean_environment | environment) as program:
            yield Hostile(program.address, model, conversation, document, folder / "talk.html")


def fill(folder: Path, url: str) -> tuple[str, str]:
    """Fill a library; returns the ids of a conversation and of a document."""
    services = bootstrap.build_services(
        load_settings(
            data_dir=folder / "data",
            embedding_provider="openai",
            embedding_model=EMBEDDING_MODEL,
            embedding_base_url=url,
        )
    )
    files = folder / "files"
    files.mkdir()
    everything = "\n\n".join(["# Kettle manual", "The kettle manual says:", *PAYLOADS])
    (files / "kettle.md").write_text(everything, encoding="utf-8")
    for n, payload in enumerate(PAYLOADS):
        name = f"{n} {payload[:60].replace('/', '∕')}"
        text = f"# {payload}\n\n{payload}\n\n| {payload} |\n|---|\n"
        (files / f"{name}.md").write_text(text, encoding="utf-8")
        (files / f"{name}.pdf").write_bytes(b"no PDF")
    services.sources.add(
        LOCAL_USER,
        "directory",
        {"path": str(files)},
        SourceSettings(name=PAYLOADS[3], labels=PAYLOADS[:8], collection=PAYLOADS[6]),
    )
    services.directories.import_directory(LOCAL_USER, files)
    places = [replace_texts(PLACES[0], n, payload) for n, payload in enumerate(PAYLOADS)]
    import_restaurants(services, folder / "places", places, catalog=PAYLOADS[5])
    for payload in PAYLOADS:
        services.conversations.begin(LOCAL_USER, payload)
    documents = {one.key: one.id for one in services.library.documents.list(limit=1_000)}
    return import_conversation(services, folder / "talk.html"), documents["kettle.md"]


def replace_texts(place: dict, n: int, payload: str) -> dict:
    """The place with the payload as every text."""
    texts = dict.fromkeys(("name", "about", "address"), payload)
    reviews = [{**one, "text": f"The ambience is lovely {payload}"} for one in place["reviews"]]
    return {**place, **texts, "place_id": f"p{n}", "reviews": reviews}


def import_conversation(services: bootstrap.Services, html: Path) -> str:
    """Import a conversation, restore its live answers in the ledger, and export it as HTML."""
    conversation = Conversation(
        "c", "", PAYLOADS[3], NOW, NOW, shown_turn_id=f"t{len(PAYLOADS) - 1}"
    )
    file = to_json(conversation, [turn_with(n, payload) for n, payload in enumerate(PAYLOADS)])
    stored = services.conversations.import_json(LOCAL_USER, file)
    turns = services.turns.list(LOCAL_USER, stored.id)
    with services.parts.database.write() as session:
        for turn, payload in zip(turns, PAYLOADS, strict=True):
            session.get(TurnRow, turn.id).answer = f"{payload}\n\n> {payload} [1]"
    html.write_bytes(services.conversations.export(LOCAL_USER, stored.id, TranscriptFormat.HTML))
    return stored.id


def turn_with(n: int, payload: str) -> Turn:
    """A turn in which every text is the payload."""
    return Turn(
        id=f"t{n}",
        conversation_id="c",
        question=payload,
        state=TurnState.INCOMPLETE,
        created_at=NOW,
        standalone_question=f"{payload}?",
        answer=payload,
        error=payload,
        model=payload[:80],
        sources=(
            RetrievedPassage(1, "p", "d", payload, payload, payload, heading_path=(payload,)),
        ),
        citations=(Citation(1, CitationState.VERIFIED, payload, payload, payload),),
        steps=(Step(1, payload, {payload: payload}, StepState.FAILED, payload, said=payload),),
        reasoning=payload,
        parent_id=f"t{n - 1}" if n else None,
    )


@pytest.fixture
def dialogs(page: "sync_api.Page") -> list[str]:
    """The messages of dialogs that scripts opened."""
    messages: list[str] = []
    page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
    yield messages
    assert messages == []


def expect_inert(page: "sync_api.Page") -> None:
    """Nothing of the markup became an element, a script, or a request."""
    settle(page)
    assert page.evaluate(FOUND) == []
    hosts = {urlsplit(url).hostname for url in page.requested if url.startswith(("http", "ws"))}
    assert hosts <= {"localhost"}


def refusal(_request: dict) -> Fault:
    return Fault(400, REFUSAL)


def visible(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("path", PAGES)
def test_markup_is_inert_on_every_page(page, dialogs, hostile: Hostile, path: str) -> None:
    page.goto(f"{hostile.address}/{path}")
    page.get_by_role("heading", level=1).first.wait_for(state="attached")
    expect_inert(page)


def test_a_stored_conversation_is_shown_as_text(page, dialogs, hostile: Hostile) -> None:
    page.goto(f"{hostile.address}/?conversation={hostile.conversation}")
    settle(page)
    turns = page.locator(".fn-turn")
    while turns.count() < len(PAYLOADS):
        press(page, EARLIER)
        settle(page)
    expect_inert(page)
    shown = visible(page.locator("body").inner_text())
    assert [payload for payload in PAYLOADS if visible(payload) not in shown] == []


def test_an_answer_steps_and_an_error_of_the_model_are_text(
    page, dialogs, hostile: Hostile
) -> None:
    hostile.model.will(Text(*(f"{payload}\n\n" for payload in PAYLOADS)))
    page.goto(hostile.address)
    turn = ask(page, QUESTION)
    expect_inert(page)
    shown = visible(turn.inner_text())
    assert PAYLOADS[3] in shown
    hostile.model.answer = refusal
    typing_box(page).fill("And the other one?")
    page.keyboard.press("Enter")
    page.get_by_text(REFUSAL).first.wait_for()
    expect_inert(page)


def test_a_document_and_its_address_are_text(page, dialogs, hostile: Hostile) -> None:
    page.goto(f"{hostile.address}/document?id={hostile.document}")
    page.locator(".fn-reading").wait_for()
    expect_inert(page)
    for name in ("id", "conversation", "source", "words"):
        page.goto(f"{hostile.address}/document?{name}={quote(PAYLOADS[3])}")
        expect_inert(page)


def test_the_report_of_an_import_is_text(page, dialogs, hostile: Hostile) -> None:
    page.goto(f"{hostile.address}/imports")
    names = page.locator('[class*="st-key-open-"] button')
    names.filter(has_text=PAYLOADS[3]).click()
    settle(page)
    expect_inert(page)
    assert PAYLOADS[3] in visible(page.locator("body").inner_text())


def test_places_are_text(page, dialogs, hostile: Hostile) -> None:
    hostile.model.answer = refusal
    page.goto(f"{hostile.address}/catalogue")
    page.get_by_label(words.PLACES_QUESTION).fill("lovely italian")
    page.keyboard.press("Enter")
    page.locator(".fn-found-place").first.wait_for()
    expect_inert(page)
    assert visible(PAYLOADS[3]) in visible(page.locator("body").inner_text())


def test_an_exported_file_is_text(page, dialogs, hostile: Hostile) -> None:
    page.goto(hostile.html.as_uri())
    assert page.evaluate(FOUND) == []
    shown = visible(page.locator("body").inner_text())
    assert [payload for payload in PAYLOADS if visible(payload) not in shown] == []
    hosts = {urlsplit(url).hostname for url in page.requested if url.startswith("http")}
    assert hosts == set()


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<b onclick='x()'>x</b>", "B onclick=x()"),
        ("<a href=javascript:x()>x</a>", "A href=javascript:x()"),
        ("<p class=fn-answer><a href=//evil.example>x</a></p>", "A href=//evil.example"),
        ("<b data-xss=1>x</b>", '<b data-xss="1">x</b>'),
    ],
)
def test_markup_that_is_inserted_would_be_noticed(page, html: str, found: str) -> None:
    page.set_content(html)
    assert page.evaluate(FOUND) == [found]
