"""People sign in at a real OpenID provider, and sessions that are not valid show nothing."""

from datetime import UTC, datetime

import pytest

from domain import Role
from tests.browser.actions import DESKTOP, WAIT_MS, click_when_idle, press, settle
from tests.browser.team import (
    COOKIE,
    Team,
    cookie,
    person_menu,
    sign_in,
    sign_in_button,
    sign_in_here,
)
from tests.browser.test_accessibility import violations_in_all_appearances
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser]


def shown_reason(page: "sync_api.Page") -> str:
    """The only notice on the page, which has nothing but the sign-in."""
    sign_in_button(page).wait_for()
    settle(page)
    assert page.get_by_test_id("stChatInputTextArea").count() == 0
    assert page.get_by_role("link").count() == 1, "the link to the main content"
    return page.get_by_role("alert").inner_text()


def test_a_person_signs_in_and_out_and_a_copy_of_the_cookie_is_refused(
    page: "sync_api.Page", team: Team
) -> None:
    page.goto(f"{team.address}/library")
    sign_in_button(page).wait_for()
    assert page.get_by_role("link").count() == 1, "the link to the main content"
    sign_in_here(page, "ada", "Ada Lovelace")
    page.wait_for_url(f"{team.address}/library")
    account = team.account("Ada Lovelace")
    assert (account.subject, account.role) == ("ada", Role.READER)
    assert account.groups == {"hr", "staff"}

    copies = [one for one in page.context.cookies() if one["name"] == COOKIE]
    assert [one["httpOnly"] for one in copies] == [True]
    person_menu(page, "Ada Lovelace").click()
    press(page, words.SIGN_OUT)
    page.get_by_role("button", name="Yes, sign me out").click()
    sign_in_button(page).wait_for()
    assert page.get_by_role("alert").count() == 0

    page.context.add_cookies(copies)
    page.goto(team.address)
    assert shown_reason(page) == "You have signed out: sign in again."


def test_a_sign_in_on_the_start_page_does_not_leave_the_page_opened_next(
    page: "sync_api.Page", team: Team
) -> None:
    page.goto(f"{team.address}/library")
    sign_in_button(page).wait_for()
    page.goto(team.address)
    sign_in_button(page).wait_for()
    page.wait_for_function("sessionStorage.getItem('footnoteAddress') === null")
    sign_in_here(page, "ben", "Ben Ohm")
    page.goto(f"{team.address}/library")
    page.get_by_role("heading", level=1).wait_for()
    settle(page)
    assert page.url == f"{team.address}/library"


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


@pytest.mark.slow
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
    sign_in_here(page, "ada", "Ada Lovelace")
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
    other.get_by_role("heading", name=words.LIBRARY_TITLE).wait_for()
    click_when_idle(other.get_by_role("link", name=words.IMPORT_PAGE))
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
