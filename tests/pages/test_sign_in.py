"""The sign-in before every page, and the menu of a person who has signed in."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from domain import Principal, Role
from domain.errors import SignInError
from services.sign_in.sign_in_service import SignInService
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database
from tests.fakes.audit import audit_of
from tests.fakes.sign_in import sign_in_options
from tests.pages.conftest import APP, Services, install_services, page_in_frame, page_text
from tests.pages.test_frame import PAGES, visible_pages
from ui.text import words

OPTIONS = sign_in_options()


class NotBefore:
    """Fails the test if a page reads anything of the library."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the page read {name}")


class ServicesWithSignIn(Services):
    """Scripted services, with the real sign-in."""

    sign_in: SignInService


@pytest.fixture
def sign_in(tmp_path: Path) -> SignInService:
    database = open_database(tmp_path)
    return SignInService(Accounts(database), audit_of(database), OPTIONS)


@pytest.fixture
def services(
    sign_in: SignInService, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServicesWithSignIn]:
    services = ServicesWithSignIn()
    services.sign_in = sign_in
    yield from install_services(services, monkeypatch)


def claims(**others: object) -> dict[str, object]:
    return {
        "iss": OPTIONS.issuer,
        "sub": "ada",
        "aud": "footnote",
        "iat": datetime.now(UTC).timestamp(),
        "nonce": "n-1",
        "name": "Ada *Lovelace*",
        "email": "ada@example.com<b>",
        "is_logged_in": True,
    } | others


def app(user: dict[str, object], **parameters: str) -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.user = user
    for name, value in parameters.items():
        page.query_params[name] = value
    return page


# AppTest forgets clicks outside of the pages of st.navigation.
def only_the_sign_in() -> None:
    from ui.shared import sign_in_page

    sign_in_page.show_sign_in()


def only_the_person() -> None:
    from ui.shared import sign_in_page

    sign_in_page.show_person()


def only_the_principal() -> None:
    import streamlit

    from ui.shared import frame

    streamlit.session_state["principal"] = frame.principal()


def labels(page: AppTest) -> list[str]:
    assert not page.exception
    return [button.label for button in page.button]


def principal_of(sign_in: SignInService, user: dict[str, object]) -> Principal:
    return sign_in.principal_of(user, datetime.now(UTC))


def test_a_person_who_is_not_signed_in_sees_only_the_sign_in(services: ServicesWithSignIn) -> None:
    services.chat = services.library = services.sources = NotBefore()
    page = app({"is_logged_in": False}).run()
    assert labels(page) == [words.SIGN_IN]
    assert words.TAGLINE in page_text(page)
    assert 'role="alert"' not in page_text(page)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_reads_anything_before_the_sign_in(
    services: ServicesWithSignIn, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    """Without app.py, as on a server that has just started, and even after the frame was shown."""
    opened: list[str] = []

    def switch(page: str, **options: object) -> None:
        opened.append(page)
        st.stop()

    monkeypatch.setattr(st, "switch_page", switch)
    services.chat = services.library = services.sources = NotBefore()
    for page in (page_in_frame(path.name), AppTest.from_file(str(path), default_timeout=20)):
        page.user = {"is_logged_in": False}
        assert labels(page.run()) == []
    assert opened == ["app.py", "app.py"]


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"iat": 1_700_000_000}, "expired"),
        ({"iat": 10_000_000_000}, "clock"),
        ({"aud": "another"}, "another provider"),
        ({"iss": "https://evil.example.com"}, "another provider"),
        ({"sub": ""}, "sub is missing"),
    ],
)
def test_a_session_that_is_refused_is_explained_in_one_sentence(
    services: ServicesWithSignIn,
    caplog: pytest.LogCaptureFixture,
    others: dict[str, object],
    reason: str,
) -> None:
    services.chat = services.library = services.sources = NotBefore()
    page = app(claims(**others)).run()
    assert labels(page.run()) == [words.SIGN_IN]
    assert reason in page_text(page)
    assert [one.message for one in caplog.records].count("session refused") == 1


def test_a_person_who_is_signed_in_sees_name_and_role_as_text(
    services: ServicesWithSignIn,
) -> None:
    page = app(claims()).run()
    assert words.SIGN_OUT in labels(page)
    text = page_text(page)
    assert "ada@example.com&lt;b&gt;" in text
    assert words.ROLE_NAMES["reader"] in text
    assert words.SIGN_IN not in labels(page)


def test_the_principal_of_the_page_has_groups_and_the_verified_address(
    services: ServicesWithSignIn,
) -> None:
    user = claims(groups=["hr"], email="ada@example.com", email_verified=True)
    expected = principal_of(services.sign_in, user)
    assert (expected.groups, expected.email) == ({"hr"}, "ada@example.com")
    page = AppTest.from_function(only_the_principal, default_timeout=20)
    page.user = user
    assert page.run().session_state["principal"] == expected


def test_a_person_who_signs_out_sees_the_sign_in_even_with_a_copy_of_the_cookie(
    services: ServicesWithSignIn,
) -> None:
    user = claims()
    page = AppTest.from_function(only_the_person, default_timeout=20)
    page.user = user
    page.run().button[0].click().run()
    assert not page.exception
    copy = app(user).run()
    assert labels(copy) == [words.SIGN_IN]
    assert "signed out" in page_text(copy)


def test_a_person_can_export_their_data(services: ServicesWithSignIn) -> None:
    page = AppTest.from_function(only_the_person, default_timeout=20)
    page.user = claims()
    [download] = page.run().get("download_button")
    assert not page.exception
    assert download.proto.label == words.EXPORT_MY_DATA


def test_a_disabled_account_loses_the_page_at_the_next_click(services: ServicesWithSignIn) -> None:
    page = app(claims()).run()
    account = services.sign_in.account_of(claims(), datetime.now(UTC))
    services.sign_in.accounts.disable(account.id, datetime.now(UTC))
    page.run()
    assert labels(page) == [words.SIGN_IN]
    assert "disabled" in page_text(page)


@pytest.mark.parametrize(
    ("role", "pages"),
    [
        (Role.READER, set()),
        (Role.EDITOR, {words.IMPORT_PAGE}),
        (Role.ADMIN, {words.IMPORT_PAGE, words.SETTINGS_PAGE}),
    ],
)
def test_the_menu_lists_the_pages_that_the_role_permits(
    services: ServicesWithSignIn, monkeypatch: pytest.MonkeyPatch, role: Role, pages: set[str]
) -> None:
    user = claims()
    services.sign_in.accounts.set_role(principal_of(services.sign_in, user).user_id, role)
    listed = set(visible_pages(monkeypatch, user))
    assert listed & {words.IMPORT_PAGE, words.SETTINGS_PAGE} == pages
    assert words.LIBRARY_PAGE in listed


@pytest.mark.parametrize("script", ["imports.py", "app_settings.py", "status.py"])
def test_a_page_that_the_role_does_not_permit_says_so(
    services: ServicesWithSignIn, script: str
) -> None:
    services.chat = services.library = services.sources = NotBefore()
    page = page_in_frame(script)
    page.user = claims()
    text = page_text(page.run())
    assert "you have the role reader" in text


def test_the_link_makes_the_signed_in_person_an_administrator_once(
    services: ServicesWithSignIn,
) -> None:
    user, other = claims(), claims(sub="ben", nonce="n-2")
    token = services.sign_in.make_administrator_link(datetime.now(UTC)).rpartition("=")[2]
    before = app({"is_logged_in": False}, administrator=token).run()
    assert words.SIGN_IN_FIRST in page_text(before)

    page = app(user, administrator=token).run()
    assert [toast.value for toast in page.toast] == [words.NOW_ADMINISTRATOR]
    assert principal_of(services.sign_in, user).role is Role.ADMIN
    assert "administrator" not in page.query_params

    assert "not valid" in page_text(app(other, administrator=token).run())
    assert principal_of(services.sign_in, other).role is Role.READER


def test_a_provider_that_is_down_is_reported_in_one_sentence(
    services: ServicesWithSignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(service: SignInService) -> None:
        raise SignInError("The sign-in service can't be reached.")

    monkeypatch.setattr(SignInService, "check_provider", fail)
    page = AppTest.from_function(only_the_sign_in, default_timeout=20)
    page.user = {"is_logged_in": False}
    page.run().button[0].click().run()
    assert "can&#x27;t be reached" in page_text(page)
