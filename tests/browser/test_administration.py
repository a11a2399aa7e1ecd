"""An administrator changes roles and readers, explains access, and manages API keys."""

import pytest

from domain import Role
from storage.ledger.document_list_store import Titles
from storage.ledger.restriction_store import Restrictions, source_restriction
from storage.ledger.source_store import Sources
from tests.browser.actions import PHONE, press, scrolls_sideways, settle
from tests.browser.importing import choose, select_row
from tests.browser.team import Team, sign_in
from tests.browser.test_accessibility import violations_in_all_appearances
from tests.services.administration.conftest import account
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE_ROW = 0
PEOPLE = (
    ("김지우", "인사팀", "전체"),
    ("佐藤 美咲", "法務", "全員"),
    ("Clara Wieck", "staff"),
    ("Emil Noether", "staff", "board"),
)


@pytest.fixture(scope="module")
def team(team: Team) -> Team:
    """The team with more people; one document has permissions, and one is hidden."""
    for name, *groups in PEOPLE:
        team.accounts.put(account(name, *groups))
    database = team.accounts._database
    first, second, *_rest = Titles(database).all()
    lists = {first.id: [frozenset({"group:staff", "group:board"})], second.id: [frozenset()]}
    Restrictions(database).restrict_documents(lists)
    return team


@pytest.fixture
def administration(page: "sync_api.Page", team: Team) -> "sync_api.Page":
    """The page of the administrator Ada, who signs in at the provider."""
    sign_in(page, team, "ada", "Ada Lovelace")
    team.accounts.set_role(team.account("Ada Lovelace").id, Role.ADMIN)
    open_administration(page, team)
    return page


def open_administration(page: "sync_api.Page", team: Team) -> None:
    page.goto(f"{team.address}/administration")
    page.get_by_role("heading", level=1).wait_for()
    settle(page)


def show_view(page: "sync_api.Page", view: str) -> None:
    choose(page, words.ADMINISTRATION_VIEWS[view])
    settle(page)


def show_source(page: "sync_api.Page") -> None:
    """Select the first source; its answer appears."""
    show_view(page, "sources")
    select_row(page, SOURCE_ROW)
    page.locator(".st-key-administered-readers .fn-rules").wait_for()


def find(page: "sync_api.Page", label: str, text: str) -> None:
    page.get_by_label(label, exact=True).fill(text)
    page.keyboard.press("Enter")
    settle(page)


def explain(page: "sync_api.Page", person: str, document: str) -> "sync_api.Locator":
    """Find the only person and the only document with these words; returns the explanation."""
    show_view(page, "why")
    find(page, words.WHY_FIND_PERSON, person)
    find(page, words.WHY_FIND_DOCUMENT, document)
    shown = page.locator(".st-key-explanation")
    shown.wait_for()
    return shown


def test_a_role_is_changed_and_an_account_disabled(
    administration: "sync_api.Page", team: Team
) -> None:
    page = administration
    find(page, words.FIND_PEOPLE, "clara")
    select_row(page, 0)
    person = page.locator(".st-key-administered-person")
    person.get_by_role("combobox", name=words.PERSON_ROLE).click()
    page.get_by_role("option", name=words.ROLE_NAMES["editor"]).click()
    press(person, words.ROLE_SAVE)
    notice = page.get_by_role("status").filter(has_text=words.ROLE_NAMES["editor"])
    sync_api.expect(notice).to_be_visible()
    assert team.account("Clara Wieck").role is Role.EDITOR
    press(person, words.ACCOUNT_DISABLE)
    press(page, words.ACCOUNT_DISABLE_NOW, exact=True)
    person.get_by_role("button", name=words.ACCOUNT_ENABLE).wait_for()
    assert team.account("Clara Wieck").disabled_at is not None
    press(person, words.ACCOUNT_ENABLE)
    person.get_by_role("button", name=words.ACCOUNT_DISABLE).wait_for()
    assert team.account("Clara Wieck").disabled_at is None


def test_a_source_is_restricted_and_its_documents_are_explained(
    administration: "sync_api.Page", team: Team
) -> None:
    page, database = administration, team.accounts._database
    source = next(one for one in Sources(database).list() if not one.conversation_id)
    document = next(one for one in Titles(database).all()[2:] if one.source_id == source.id)
    shown = explain(page, "clara", document.id)
    sync_api.expect(shown.locator(".fn-readable")).to_be_visible()
    show_source(page)
    page.get_by_text(words.READERS_CHOICES["some"], exact=True).click()
    page.get_by_role("combobox", name=words.READERS_SOME).click()
    page.keyboard.type("board")
    page.get_by_role("option", name="board (group)").click()
    page.keyboard.press("Escape")
    press(page, words.READERS_SAVE)
    rule = page.locator(".fn-rules li").first
    sync_api.expect(rule).to_have_text(words.WHO_SOURCE_READERS.format(readers="board (group)"))
    assert Restrictions(database).readers(source_restriction(source.id)) == {"group:board"}
    shown = explain(page, "clara", document.id)
    sync_api.expect(shown.locator(".fn-hidden")).to_be_visible()
    sync_api.expect(shown.locator(".fn-bad")).to_have_count(1)
    Restrictions(database).restrict(source_restriction(source.id), None)


def test_a_key_is_created_shown_once_and_revoked(
    administration: "sync_api.Page", team: Team
) -> None:
    page = administration
    show_view(page, "keys")
    page.get_by_text(words.KEY_CREATE, exact=True).click()
    find(page, words.WHY_FIND_PERSON, "emil")
    page.get_by_label(words.KEY_NAME, exact=True).fill("Weekly report")
    press(page, words.KEY_CREATE_NOW)
    dialog = page.get_by_role("dialog")
    secret = dialog.locator(".fn-secret").inner_text()
    dialog.locator(".fn-copy").click()
    sync_api.expect(dialog.locator(".fn-copied")).to_be_visible()
    press(dialog, words.SHOWN_ONCE_DONE)
    dialog.wait_for(state="detached")
    assert secret.startswith("fn-")
    assert secret not in page.content()
    settle(page)
    select_row(page, 0)
    press(page, words.KEY_REVOKE)
    press(page, words.KEY_REVOKE_NOW)
    notice = page.get_by_role("status").filter(has_text="Weekly report")
    sync_api.expect(notice).to_be_visible()


def test_other_people_are_refused(page: "sync_api.Page", team: Team) -> None:
    sign_in(page, team, "ben", "Ben Ohm")
    assert page.get_by_role("link", name=words.ADMINISTRATION_PAGE).count() == 0
    page.goto(f"{team.address}/administration")
    sync_api.expect(page.get_by_role("alert")).to_contain_text("the role admin")


def show_disabling(page: "sync_api.Page", team: Team) -> None:
    select_row(page, 0)
    press(page, words.ACCOUNT_DISABLE)
    page.locator(".st-key-person-disabling").wait_for()


def show_group(page: "sync_api.Page", team: Team) -> None:
    show_view(page, "groups")
    select_row(page, 0)
    page.locator(".st-key-administered-group").wait_for()


def show_readers(page: "sync_api.Page", team: Team) -> None:
    show_source(page)
    page.get_by_text(words.READERS_CHOICES["some"], exact=True).click()
    page.get_by_role("combobox", name=words.READERS_SOME).wait_for()


def show_explanation(page: "sync_api.Page", team: Team) -> None:
    explain(page, "clara", Titles(team.accounts._database).all()[1].id)


def show_key_form(page: "sync_api.Page", team: Team) -> None:
    show_view(page, "keys")
    page.get_by_text(words.KEY_CREATE, exact=True).click()
    page.get_by_label(words.KEY_NAME, exact=True).wait_for()


def show_events(page: "sync_api.Page", team: Team) -> None:
    show_view(page, "audit")
    page.get_by_test_id("stDataFrame").wait_for()


STATES = {
    "people": show_disabling,
    "groups": show_group,
    "readers": show_readers,
    "explanation": show_explanation,
    "keys": show_key_form,
    "audit": show_events,
}


@pytest.mark.parametrize("state", STATES)
def test_a_view_has_no_serious_violation_and_fits_a_phone(
    administration: "sync_api.Page", team: Team, axe: str, state: str
) -> None:
    page = administration
    STATES[state](page, team)
    assert not (found := violations_in_all_appearances(page, axe)), "\n\n".join(found)
    page.set_viewport_size(PHONE)
    settle(page)
    assert not scrolls_sideways(page)
