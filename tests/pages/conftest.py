"""Page tests run the real pages over scripted services."""

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import bootstrap
from domain import Principal, Turn
from services.chat.conversation_service import CostService
from services.search.search_scope import Choices
from services.sources.source_service import SourceStatus
from tests.pages.double import ScriptedChat, ScriptedConversations, ScriptedTurns
from tests.pages.evidence_double import Originals, Ratings, Reader
from ui.shared import frame

Kind = TypeVar("Kind")
APP = Path(__file__).parents[2] / "app.py"


@dataclass
class Status:
    documents: int = 9
    passages: int = 44
    notices: tuple[str, ...] = ()
    has_samples: bool = True
    has_only_samples: bool = True


@dataclass
class Library:
    now: Status = field(default_factory=Status)
    catalogs: int = 0

    def has_catalogs(self, principal: Principal) -> bool:
        return self.catalogs > 0

    def status(self, principal: Principal) -> Status:
        return self.now


class NoExtras:
    """No choices, restrictions, files, suggestions, sources, or panel without citations."""

    max_file_mb = 100

    def choices(self, principal: Principal, conversation_id: str | None = None) -> Choices:
        return Choices()

    def denied(self, principal: Principal) -> None:
        return None

    def box_of(self, principal: Principal, conversation_id: str) -> None:
        return None

    def nothing_found(self, principal: Principal, turn: Turn) -> None:
        return None

    def suggest(self, principal: Principal, day: date, *, language: str = "") -> list[str]:
        return []

    def list(self, principal: Principal) -> Sequence[SourceStatus]:
        return ()


@dataclass
class Services:
    sign_in = None
    chat: ScriptedChat = field(default_factory=ScriptedChat)
    library: Library = field(default_factory=Library)
    ratings: Ratings = field(default_factory=Ratings)
    reader: Reader = field(default_factory=Reader)
    originals: Originals = field(default_factory=Originals)
    costs: CostService = field(default_factory=lambda: CostService("qwen3", 2.0, 10.0))

    access: NoExtras = field(default_factory=NoExtras)
    choices: NoExtras = field(default_factory=NoExtras)
    uploads: NoExtras = field(default_factory=NoExtras)
    relevance: NoExtras = field(default_factory=NoExtras)
    suggestions: NoExtras = field(default_factory=NoExtras)
    sources: NoExtras = field(default_factory=NoExtras)

    @property
    def turns(self) -> ScriptedTurns:
        return ScriptedTurns(self.chat)

    @property
    def conversations(self) -> ScriptedConversations:
        return ScriptedConversations(self.chat)

    def warm_up(self) -> None:
        pass


@pytest.fixture(scope="session", autouse=True)
def _component_manifests() -> Iterator[None]:
    """Read the metadata of all installed packages once; each open page would take .2 s."""
    scan = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_warm_up() -> Iterator[None]:
    """Skip loading models and collecting garbage in the background, most of the time of a test."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(frame, "_warm_up", lambda services: None)
        yield


@pytest.fixture(autouse=True)
def _keep_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep modules and tests frozen; each run of a page collects garbage."""
    monkeypatch.setattr(gc, "unfreeze", lambda: None)


def install_services(services: Kind, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kind]:
    """Scripted services that the pages use during a test."""
    monkeypatch.setattr(bootstrap, "build_services", lambda: services)
    st.cache_resource.clear()
    yield services
    st.cache_resource.clear()


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    yield from install_services(Services(), monkeypatch)


@pytest.fixture
def page(services: Services) -> AppTest:
    """The open chat page."""
    return AppTest.from_file(str(APP), default_timeout=20).run()


def page_in_frame(script: str) -> AppTest:
    """A page of the folder `pages`, not run yet, as if app.py had set it up."""
    page = AppTest.from_file(str(APP.parent / "pages" / script), default_timeout=20)
    page.session_state["framed"] = True
    return page


def page_text(page: AppTest) -> str:
    """All HTML and text on the page."""
    assert not page.exception
    texts = [*page.html, *page.markdown, *page.subheader, *page.caption, *page.code]
    labels = [button.label for button in page.button]
    return "\n".join([*(element.value for element in texts), *labels])


def ask(page: AppTest, question: str = "How many days?") -> str:
    page.chat_input[0].set_value(question).run()
    return page_text(page)
