"""A conversation is shared by a link, which other people who sign in open and read."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bootstrap import Services
from domain import LOCAL_USER, Principal, RetrievedPassage, TurnState
from services.chat.sharing_service import SHARED
from settings import load_settings
from storage.ledger.conversation_store import Conversations
from tests.fakes.sign_in import sign_in_options
from tests.pages.conftest import APP, install_services, page_in_frame, page_text
from tests.pages.test_sign_in import claims
from ui.text import words

Ask = Callable[..., str]
OPTIONS = sign_in_options()
OWNER = claims()
READER = claims(sub="ben", name="Ben Ohm", email="ben@example.com")


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Services]:
    settings = load_settings(
        data_dir=tmp_path,
        oidc_issuer=OPTIONS.issuer,
        oidc_client_id=OPTIONS.client_id,
        oidc_client_secret="secret",
        public_url=OPTIONS.public_url,
    )
    yield from install_services(Services(settings), monkeypatch)


def owner(services: Services) -> Principal:
    assert services.sign_in
    return services.sign_in.principal_of(OWNER, datetime.now(UTC))


@pytest.fixture
def ask(services: Services) -> Ask:
    """A function that stores a conversation of the owner with one answer, and returns its id."""

    def ask(*sources: RetrievedPassage) -> str:
        conversations, person = Conversations(services._database), owner(services)
        turn = conversations.start_first_turn(person, "Leave *days*", "How many days?")
        answered = replace(
            turn,
            answer="There are 25 days.",
            state=TurnState.COMPLETE,
            standalone_question="How many days?",
            sources=sources,
        )
        conversations.finish_turn(person, answered)
        return turn.conversation_id

    return ask


def page(user: dict[str, object], **parameters: str) -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.user = user
    for name, value in parameters.items():
        page.query_params[name] = value
    return page.run()


def labels(page: AppTest) -> list[str]:
    assert not page.exception
    return [button.label for button in page.button]


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def test_the_owner_creates_a_link_copies_it_again_and_removes_it(
    services: Services, ask: Ask
) -> None:
    id_ = ask()
    opened = page(OWNER, conversation=id_)
    press(opened, words.SHARE_CONVERSATION)
    assert words.LINK_NOTE in page_text(opened)
    press(opened, words.CREATE_LINK)
    link = services.sharing.link(owner(services), id_)
    assert link
    assert f'data-copy="{link.address}"' in page_text(opened)
    press(opened, words.REMOVE_LINK)
    assert services.sharing.link(owner(services), id_) is None
    assert words.CREATE_LINK in labels(opened)


def test_without_sign_in_there_is_only_the_file(services: Services) -> None:
    services.sign_in = None
    conversation = services.conversations.begin(LOCAL_USER, "Leave")
    opened = press(page({}, conversation=conversation.id), words.SHARE_CONVERSATION)
    assert words.SHARE_NOTE in page_text(opened)
    assert words.CREATE_LINK not in labels(opened)


def test_another_person_reads_the_conversation_and_cannot_change_it(
    services: Services, ask: Ask
) -> None:
    token = services.sharing.share(owner(services), ask()).token
    opened = page(READER, **{SHARED: token})
    text = page_text(opened)
    assert "There are 25 days." in text
    assert "How many days?" in text
    assert words.SHARED_BY.format(name="Ada \\*Lovelace\\*") in text
    assert not opened.chat_input
    assert labels(opened) == [words.SIGN_OUT, words.LEAVE_SHARED]
    press(opened, words.LEAVE_SHARED)
    assert SHARED not in opened.query_params
    assert "There are 25 days." not in page_text(opened)
    assert opened.chat_input


def test_withheld_answers_are_counted_without_their_questions_and_the_title(
    services: Services, ask: Ask
) -> None:
    passage = RetrievedPassage(1, "p1", "unknown", "Salaries", "/salaries.md", "Salaries.")
    token = services.sharing.share(owner(services), ask(passage)).token
    opened = page(READER, **{SHARED: token})
    text = page_text(opened)
    assert words.count(words.SHARED_WITHHELD, 1) in text
    assert words.SHARED_CONVERSATION in text
    assert not any(one in text for one in ("How many days", "Leave \\*", "25 days", "alaries"))


def test_an_unknown_link_and_a_removed_one_look_the_same(services: Services, ask: Ask) -> None:
    id_ = ask()
    token = services.sharing.share(owner(services), id_).token
    services.sharing.unshare(owner(services), id_)
    texts = [page_text(page(READER, **{SHARED: one})) for one in (token, "none")]
    assert texts[0] == texts[1]
    assert "There is no conversation with this link" in texts[0]


@pytest.mark.parametrize("user", [{"is_logged_in": False}, claims(iat=1_700_000_000)])
def test_a_person_who_is_not_signed_in_sees_only_the_sign_in(
    services: Services, ask: Ask, user: dict[str, object]
) -> None:
    token = services.sharing.share(owner(services), ask()).token
    opened = page(user, **{SHARED: token})
    assert labels(opened) == [words.SIGN_IN]
    assert words.SIGN_IN_TO_READ in page_text(opened)
    assert "25 days" not in page_text(opened)


def test_an_empty_conversation_says_so(services: Services) -> None:
    conversation = services.conversations.begin(owner(services), "Leave")
    token = services.sharing.share(owner(services), conversation.id).token
    opened = page_in_frame("chat.py")
    opened.user = READER
    opened.query_params[SHARED] = token
    assert words.SHARED_EMPTY in page_text(opened.run())
