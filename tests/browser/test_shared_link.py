"""A person shares a conversation by a link, and a colleague reads it with other permissions."""

from collections.abc import Iterator

import pytest

from storage.ledger.document_list_store import Titles
from storage.ledger.restriction_store import Restrictions
from tests.browser.actions import (
    DESKTOP,
    PHONE,
    WAIT_MS,
    ask,
    open_share_dialog,
    press,
    screenshot,
    scrolls_sideways,
    settle,
    typing_box,
    wait_for_animations,
)
from tests.browser.team import Team, sign_in, sign_in_button, sign_in_here
from tests.browser.test_accessibility import violations_in_all_appearances
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = pytest.mark.browser

LEAVE, VPN = "How many days of annual leave do new employees get?", "Which VPN gateway is there?"
QUOTE = "New employees get 25 days of annual leave a year"


@pytest.fixture
def colleague(browser: "sync_api.Browser") -> Iterator["sync_api.Page"]:
    """A page in a browser of another person, who has not signed in yet."""
    context = browser.new_context(viewport=DESKTOP, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    yield page
    context.close()


def share_link(page: "sync_api.Page") -> str:
    """Create the link of the conversation in the open dialog, and copy it."""
    open_share_dialog(page)
    dialog = page.get_by_role("dialog")
    press(dialog, words.CREATE_LINK)
    dialog.get_by_role("button", name=words.REMOVE_LINK).wait_for()
    wait_for_animations(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.locator("button.fn-copy").click()
    dialog.locator("button.fn-copied").wait_for()
    return str(page.evaluate("navigator.clipboard.readText()"))


def hide(team: Team, title: str) -> None:
    """Let only the owner read the document with this title."""
    database = team.accounts._database
    [document] = [one for one in Titles(database).all() if title in one.title]
    reader = f"user:{team.account('Ada Lovelace').id}"
    Restrictions(database).restrict_documents({document.id: [frozenset({reader})]})


@pytest.mark.slow
def test_a_colleague_reads_a_shared_conversation_until_the_link_is_removed(
    page: "sync_api.Page", colleague: "sync_api.Page", team: Team, axe: str
) -> None:
    sign_in(page, team, "ada", "Ada Lovelace")
    ask(page, LEAVE)
    ask(page, VPN)
    link = share_link(page)
    assert link.startswith(f"{team.address}/?shared=")
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        settle(page)
        screenshot(page, f"share-link-{size['width']}")
        assert not scrolls_sideways(page)
    assert not (found := violations_in_all_appearances(page, axe)), "\n\n".join(found)

    colleague.goto(link)
    sync_api.expect(colleague.get_by_role("alert")).to_have_text(words.SIGN_IN_TO_READ)
    assert colleague.get_by_text(LEAVE).count() == 0
    sign_in_button(colleague).wait_for()
    sign_in_here(colleague, "ben", "Ben Ohm")
    colleague.wait_for_url(link)
    colleague.get_by_text(words.SHARED_BY.format(name="Ada Lovelace")).wait_for()
    settle(colleague)
    assert colleague.locator(".fn-question").all_inner_texts() == [LEAVE, VPN]
    assert QUOTE in colleague.locator(".fn-turn").first.inner_text()
    assert typing_box(colleague).count() == 0
    assert not (found := violations_in_all_appearances(colleague, axe)), "\n\n".join(found)

    hide(team, "VPN")
    colleague.reload()
    sync_api.expect(colleague.get_by_role("alert")).to_have_text(
        words.count(words.SHARED_WITHHELD, 1)
    )
    assert colleague.locator(".fn-question").all_inner_texts() == [LEAVE]
    assert "VPN" not in colleague.locator("body").inner_text()
    for size in (PHONE, DESKTOP):
        colleague.set_viewport_size(size)
        settle(colleague)
        screenshot(colleague, f"shared-conversation-{size['width']}")
        assert not scrolls_sideways(colleague)

    press(page.get_by_role("dialog"), words.REMOVE_LINK)
    page.get_by_role("dialog").get_by_role("button", name=words.CREATE_LINK).wait_for()
    colleague.reload()
    sync_api.expect(colleague.get_by_role("alert")).to_contain_text("no longer shared")
    press(colleague, words.LEAVE_SHARED)
    typing_box(colleague).wait_for()
    assert colleague.locator(".fn-turn").count() == 0
