"""People sign in at a real OpenID provider, and sessions that are not valid show nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from bootstrap import streamlit_secrets
from domain import Account, Role
from settings import load_settings
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database
from tests.browser.actions import DESKTOP, WAIT_MS, settle
from tests.browser.openid_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    OpenIdProvider,
    openid_provider,
)
from tests.browser.program import running
from tests.browser.test_accessibility import violations_in_all_appearances
from tests.fakes.openai import EMBEDDING_MODEL, OpenAIServer
from tests.servers import free_port
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser]

COOKIE = "_streamlit_user"


@dataclass(frozen=True)
class Team:
    """A running program with sign-in, its provider, and what it printed."""

    address: str
    provider: OpenIdProvider
    data_dir: Path
    output: Path

    @property
    def accounts(self) -> Accounts:
        return Accounts(open_database(self.data_dir))

    def account(self, name: str) -> Account:
        return next(one for one in self.accounts.list() if one.name == name)

    @property
    def cookie_secret(self) -> str:
        settings = load_settings(
            data_dir=self.data_dir,
            oidc_issuer=self.provider.issuer,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=CLIENT_SECRET,
            public_url=self.address,
        )
        line = next(
            one for one in streamlit_secrets(settings).splitlines() if "cookie_secret" in one
        )
        return json.loads(line.partition(" = ")[2])


@pytest.fixture(scope="module")
def team(
    chromium: str,
    clean_environment: dict[str, str],
    embedder: OpenAIServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Team]:
    folder, port = tmp_path_factory.mktemp("team"), free_port()
    data_dir, output = folder / "data", folder / "output.txt"
    embedding = {
        "FOOTNOTE_DATA_DIR": str(data_dir),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    with openid_provider(folder, f"http://localhost:{port}") as provider:
        environment = clean_environment | embedding | provider.settings
        with running(environment, port=port, output=output) as program:
            yield Team(program.address, provider, data_dir, output)


def sign_in_button(page: "sync_api.Page") -> "sync_api.Locator":
    return page.get_by_role("button", name=words.SIGN_IN)


def sign_in(page: "sync_api.Page", team: Team, person: str, name: str) -> None:
    """Sign in at the provider as one of its people."""
    page.goto(team.address)
    sign_in_button(page).click()
    page.get_by_role("link", name=person).click()
    person_menu(page, name).wait_for()


def person_menu(page: "sync_api.Page", name: str) -> "sync_api.Locator":
    return page.locator(".st-key-person").get_by_role("button", name=name)


def shown_reason(page: "sync_api.Page") -> str:
    """The only notice on the page, which has nothing but the sign-in."""
    sign_in_button(page).wait_for()
    settle(page)
    assert page.get_by_test_id("stChatInputTextArea").count() == 0
    assert page.get_by_role("link").count() == 1, "the link to the main content"
    return page.get_by_role("alert").inner_text()


def cookie(team: Team, secret: str, **changes: object) -> dict[str, str]:
    """A cookie as the pages write it, signed with this secret."""
    claims = {
        "iss": team.provider.issuer,
        "sub": "eve",
        "aud": CLIENT_ID,
        "iat": datetime.now(UTC).timestamp(),
        "nonce": "n-1",
        "name": "Eve",
        "origin": team.address,
        "is_logged_in": True,
        "provider": "default",
    } | changes
    value = create_signed_value(secret, COOKIE, json.dumps(claims)).decode()
    return {"name": COOKIE, "value": value, "url": team.address}


def test_a_person_signs_in_and_out_and_a_copy_of_the_cookie_is_refused(
    page: "sync_api.Page", team: Team
) -> None:
    page.goto(f"{team.address}/library")
    sign_in_button(page).wait_for()
    assert page.get_by_role("link").count() == 1, "the link to the main content"
    sign_in(page, team, "ada", "Ada Lovelace")
    account = team.account("Ada Lovelace")
    assert (account.subject, account.role) == ("ada", Role.READER)
    assert account.groups == {"hr", "staff"}

    copies = [one for one in page.context.cookies() if one["name"] == COOKIE]
    assert [one["httpOnly"] for one in copies] == [True]
    person_menu(page, "Ada Lovelace").click()
    page.get_by_role("button", name=words.SIGN_OUT).click()
    page.get_by_role("button", name="Yes, sign me out").click()
    sign_in_button(page).wait_for()
    assert page.get_by_role("alert").count() == 0

    page.context.add_cookies(copies)
    page.goto(team.address)
    assert shown_reason(page) == "You have signed out: sign in again."


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iat": 1_700_000_000}, "Your session has expired: sign in again."),
        ({"aud": "another"}, "This sign-in was made for another provider or program:"),
    ],
)
def test_a_session_that_is_not_valid_shows_only_its_reason(
    page: "sync_api.Page", team: Team, changes: dict[str, object], reason: str
) -> None:
    page.context.add_cookies([cookie(team, team.cookie_secret)])
    page.goto(team.address)
    person_menu(page, "Eve").wait_for()
    page.context.add_cookies([cookie(team, team.cookie_secret, **changes)])
    page.goto(team.address)
    assert shown_reason(page).startswith(reason)


def test_a_forged_cookie_is_no_session(page: "sync_api.Page", team: Team) -> None:
    page.context.add_cookies([cookie(team, "another-secret-of-sufficient-length")])
    page.goto(team.address)
    sign_in_button(page).wait_for()
    assert page.get_by_role("link").count() == 1, "the link to the main content"


def test_a_provider_that_does_not_answer_is_reported_in_one_sentence(
    page: "sync_api.Page", team: Team
) -> None:
    page.goto(team.address)
    with team.provider.silent():
        sign_in_button(page).click()
        notice = page.get_by_role("alert")
        sync_api.expect(notice).to_have_text(
            "The sign-in service can't be reached: try again later, or tell your administrator."
        )
    sign_in_button(page).click()
    page.get_by_role("link", name="ben").wait_for()


@pytest.mark.slow
def test_roles_and_disabled_accounts_count_at_the_next_click(
    page: "sync_api.Page", team: Team, browser: "sync_api.Browser"
) -> None:
    link = next(line for line in team.output.read_text().splitlines() if "once" in line).split()[-1]
    page.goto(link)
    sync_api.expect(page.get_by_role("alert")).to_have_text(words.SIGN_IN_FIRST)
    sign_in(page, team, "ada", "Ada Lovelace")
    assert page.get_by_role("link", name=words.SETTINGS_PAGE).count() == 0
    page.goto(link)
    page.get_by_role("link", name=words.SETTINGS_PAGE).wait_for()
    assert team.account("Ada Lovelace").role is Role.ADMIN

    context = browser.new_context(viewport=DESKTOP, locale="en-GB")
    other = context.new_page()
    other.set_default_timeout(WAIT_MS)
    sign_in(other, team, "ben", "Ben Ohm")
    ben = team.account("Ben Ohm")
    assert ben.email == team.account("Ada Lovelace").email
    other.goto(link)
    assert "not valid" in other.get_by_role("alert").inner_text()
    other.goto(f"{team.address}/imports")
    sync_api.expect(other.get_by_role("alert")).to_contain_text("the role editor")

    team.accounts.set_role(ben.id, Role.EDITOR)
    other.get_by_role("link", name=words.LIBRARY_PAGE).click()
    other.get_by_role("link", name=words.IMPORT_PAGE).click()
    other.get_by_role("heading", name=words.IMPORT_PAGE).wait_for()
    assert other.get_by_role("link", name=words.SETTINGS_PAGE).count() == 0

    # The import page refreshes itself, so it may show the sign-in before a click.
    team.accounts.disable(ben.id, datetime.now(UTC))
    other.goto(f"{team.address}/library")
    assert shown_reason(other) == "Your account is disabled: ask an administrator to enable it."
    context.close()


@pytest.mark.slow
def test_the_sign_in_and_the_menu_have_no_serious_violation(
    page: "sync_api.Page", team: Team, axe: str
) -> None:
    page.context.add_cookies([cookie(team, team.cookie_secret, aud="another")])
    page.goto(team.address)
    sign_in_button(page).wait_for()
    assert not (found := violations_in_all_appearances(page, axe)), "\n\n".join(found)
    page.context.clear_cookies()
    sign_in(page, team, "ada", "Ada Lovelace")
    person_menu(page, "Ada Lovelace").click()
    page.get_by_role("button", name=words.SIGN_OUT).wait_for()
    assert not (found := violations_in_all_appearances(page, axe)), "\n\n".join(found)
