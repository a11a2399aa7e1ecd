"""The administration page over real services, with and without sign-in."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, Action, ApiScope, DocumentFilter, Principal, Role
from services.sign_in.sign_in_service import SignInService
from tests.fakes.sign_in import sign_in_options
from tests.pages.conftest import install_services, page_in_frame, page_text
from tests.pages.test_frame import visible_pages
from tests.pages.test_sign_in import claims
from ui.administration.administration_page import AUDIT, GROUPS, KEYS, SOURCES, VIEW, WHY
from ui.shared import row_selection
from ui.text import words

BEN = claims(sub="ben", nonce="n-2", name="Ben <i>Ohm</i>", email="ben@example.com", groups=["hr"])
Open = Callable[..., AppTest]


@pytest.fixture
def alone(monkeypatch, build_services):
    """Services without sign-in."""
    yield from install_services(build_services(), monkeypatch)


@pytest.fixture
def services(alone):
    """Services with the administrator Ada and the reader Ben."""
    sign_in = SignInService(alone.accounts.accounts, alone.audit, sign_in_options())
    alone.__dict__["sign_in"] = sign_in
    ada = sign_in.principal_of(claims(), datetime.now(UTC))
    sign_in.principal_of(BEN, datetime.now(UTC))
    alone.accounts.set_role(LOCAL_USER, ada.user_id, Role.ADMIN)
    return alone


@pytest.fixture
def open_page(services) -> Open:
    def open_page(view="people", **state):
        page = page_in_frame("administration.py")
        page.user = claims()
        page.session_state[VIEW] = view
        for key, value in state.items():
            page.session_state[key] = value
        return page.run()

    return open_page


@pytest.fixture
def mark(monkeypatch):
    """Selects table rows, which AppTest cannot do."""

    def mark(*rows):
        monkeypatch.setattr(row_selection, "row_numbers", lambda _event: list(rows))

    return mark


def press(page, label):
    return next(one for one in page.button if one.label == label).click().run()


def box(page, label):
    return next(one for one in page.selectbox if one.label == label)


def account(services, name):
    return next(one for one in services.accounts.list(LOCAL_USER) if one.name.startswith(name))


def source(services):
    return services.reader_reports.list(LOCAL_USER).sources[0]


def rows(page, column):
    return list(page.dataframe[0].value[column])


def test_the_menu_lists_the_page_for_administrators_only(services, monkeypatch) -> None:
    assert words.ADMINISTRATION_PAGE in visible_pages(monkeypatch, claims())
    assert words.ADMINISTRATION_PAGE not in visible_pages(monkeypatch, BEN)


def test_the_menu_has_no_such_page_without_sign_in(alone, monkeypatch) -> None:
    assert words.ADMINISTRATION_PAGE not in visible_pages(monkeypatch)


def test_others_see_only_that_their_role_does_not_permit_it(services) -> None:
    page = page_in_frame("administration.py")
    page.user = BEN
    text = page_text(page.run())
    assert "you have the role reader" in text
    assert "Ada" not in text


def test_people_are_listed_with_role_groups_and_state(open_page: Open) -> None:
    page = open_page()
    assert rows(page, words.PERSON_NAME) == ["Ada *Lovelace*", "Ben <i>Ohm</i>"]
    assert rows(page, words.PERSON_ROLE) == ["Administrator", "Reader"]
    assert rows(page, words.PERSON_GROUPS) == ["", "hr"]
    assert rows(page, words.PERSON_STATE) == [words.PERSON_ENABLED] * 2


def test_people_are_found_by_words(open_page: Open) -> None:
    page = open_page()
    page.text_input[0].set_value("ohm").run()
    assert rows(page, words.PERSON_EMAIL) == ["ben@example.com"]
    page.text_input[0].set_value("nobody").run()
    assert words.NO_PEOPLE_MATCH in page_text(page)


def test_people_are_listed_page_by_page(open_page: Open, monkeypatch) -> None:
    monkeypatch.setattr("ui.administration.people_view.ROWS", 1)
    page = open_page()
    assert words.SHOWN_OF.format(first=1, last=1, total=2) in page_text(page)


def test_a_role_is_changed(services, open_page: Open, mark) -> None:
    mark(1)
    page = open_page()
    box(page, words.PERSON_ROLE).select(Role.EDITOR).run()
    text = page_text(press(page, words.ROLE_SAVE))
    assert account(services, "Ben").role is Role.EDITOR
    assert "Ben &lt;i&gt;Ohm&lt;/i&gt; (ben@example.com) is now: Editor." in text


def test_the_last_administrator_keeps_the_role_and_the_account(
    services, open_page: Open, mark
) -> None:
    mark(0)
    page = open_page()
    box(page, words.PERSON_ROLE).select(Role.READER).run()
    assert "This is the last administrator" in page_text(press(page, words.ROLE_SAVE))
    press(page, words.ACCOUNT_DISABLE)
    assert "This is the last administrator" in page_text(press(page, words.ACCOUNT_DISABLE_NOW))
    assert account(services, "Ada").role is Role.ADMIN


def test_an_account_is_disabled_after_a_confirmation_and_enabled_again(
    services, open_page: Open, mark
) -> None:
    mark(1)
    page = press(open_page(), words.ACCOUNT_DISABLE)
    assert words.ACCOUNT_DISABLE_MEANS in page_text(page)
    press(page, words.CHANGE_CANCEL)
    assert account(services, "Ben").disabled_at is None
    press(press(page, words.ACCOUNT_DISABLE), words.ACCOUNT_DISABLE_NOW)
    assert account(services, "Ben").disabled_at is not None
    assert rows(page, words.PERSON_STATE)[1] == words.PERSON_DISABLED
    press(page, words.ACCOUNT_ENABLE)
    assert account(services, "Ben").disabled_at is None


def test_groups_show_members_and_what_names_them(services, handbook, open_page: Open, mark) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    page = open_page(GROUPS)
    assert rows(page, words.GROUP_NAME) == ["hr"]
    mark(0)
    services.permissions.set_readers(LOCAL_USER, source(services).id, ["group:hr"])
    text = page_text(open_page(GROUPS))
    assert "1 person: Ben &lt;i&gt;Ohm&lt;/i&gt; (ben@example.com)" in text
    assert words.GROUP_READS_SOURCES.format(names=source(services).name) in text


def test_who_can_read_a_source_is_answered_with_one_click(
    services, handbook, open_page: Open, mark
) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    mark(0)
    text = page_text(open_page(SOURCES))
    assert words.WHO_SOURCE_EVERYONE in text
    assert "2 of 2 can read the source: Ada *Lovelace* (ada@" in text
    services.permissions.set_readers(LOCAL_USER, source(services).id, ["group:hr", "user:gone"])
    text = page_text(open_page(SOURCES))
    assert "Only these may read the source: hr (group), user gone." in text
    assert "1 of 2 can read the source: Ben" in text


def test_a_source_is_restricted_hidden_and_opened(
    services, handbook, open_page: Open, mark
) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    mark(0)
    page = open_page(SOURCES)
    page.radio[0].set_value("some").run()
    assert words.READERS_MISSING in page_text(press(page, words.READERS_SAVE))
    page.multiselect[0].select("group:hr").run()
    assert "Readers of" in page_text(press(page, words.READERS_SAVE))
    assert source(services).readers == ("group:hr",)
    page.radio[0].set_value("nobody").run()
    press(page, words.READERS_SAVE)
    assert source(services).readers == ()
    page.radio[0].set_value("everyone").run()
    press(page, words.READERS_SAVE)
    assert source(services).readers is None


def test_the_form_says_that_it_offers_only_the_first_people(
    services, handbook, open_page: Open, mark, monkeypatch
) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    mark(0)
    page = open_page(SOURCES)
    page.radio[0].set_value("some").run()
    assert "The list offers the first" not in page_text(page)
    monkeypatch.setattr("ui.administration.sources_view._PEOPLE", 1)
    assert "The list offers the first 1 of" in page_text(page.run())


def test_a_collection_has_readers_too(services, handbook, open_page: Open, mark) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    mark(1)
    page = open_page(SOURCES)
    assert "It has 1 source" in page_text(page)
    page.radio[0].set_value("nobody").run()
    press(page, words.READERS_SAVE)
    assert list(services.reader_reports.list(LOCAL_USER).collections.values()) == [()]


def explain(page, person, document):
    page.text_input[0].set_value(person).run()
    page.text_input[1].set_value(document).run()
    return page_text(page)


def test_an_explanation_names_each_rule(services, handbook, open_page: Open) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    page = open_page(WHY)
    assert words.WHY_START in page_text(page)
    text = explain(page, "ben", "leave")
    assert 'class="fn-access fn-readable"' in text
    assert text.count(f">{words.WHY_ALLOWS}<") == 4
    services.permissions.set_readers(LOCAL_USER, source(services).id, ["user:gone"])
    text = page_text(page.run())
    assert 'class="fn-access fn-hidden"' not in text, "Ada may no longer search it"


def test_a_document_that_the_administrator_may_not_read_is_explained_by_its_id(
    services, handbook, open_page: Open
) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    document = services.documents.page(LOCAL_USER, DocumentFilter("leave")).documents[0]
    services.permissions.set_readers(LOCAL_USER, source(services).id, ["group:hr"])
    for text in (document.id, f"https://docs.example.com/document?x&id={document.id}"):
        shown = explain(open_page(WHY), "ada", text)
        assert 'class="fn-access fn-hidden"' in shown
        assert "only hr (group) may read it" in shown
        assert document.title not in shown
    assert 'class="fn-access fn-readable"' in explain(open_page(WHY), "ben", document.id)
    assert "there is no document" in explain(open_page(WHY), "ben", "0" * 32)


def test_a_key_is_created_for_a_person_and_shown_once(services, open_page: Open) -> None:
    page = open_page(KEYS)
    assert words.NO_KEYS in page_text(page)
    page.text_input[0].set_value("ben").run()
    page.text_input[1].set_value("Reports")
    page.multiselect[0].set_value([ApiScope.READ])
    page.date_input[0].set_value(None)
    text = page_text(press(page, words.KEY_CREATE_NOW))
    key = services.api_keys.list(LOCAL_USER)[0]
    assert (key.user_id, key.groups, key.scopes) == (
        account(services, "Ben").id,
        {"hr"},
        {ApiScope.READ},
    )
    assert key.expires_at is None
    secret = text.partition('class="fn-secret">')[2].partition("<")[0]
    assert services.api_keys.find(secret) == key
    assert secret not in page_text(press(page, words.SHOWN_ONCE_DONE))


def test_a_key_needs_a_person(services, open_page: Open) -> None:
    page = open_page(KEYS)
    page.text_input[1].set_value("Reports")
    assert "Specify the user" in page_text(press(page, words.KEY_CREATE_NOW))
    assert services.api_keys.list(LOCAL_USER) == []


def test_a_key_is_revoked_after_a_confirmation(services, open_page: Open, mark) -> None:
    new = services.api_keys.create(LOCAL_USER, Principal("bot"), "<b>Bot", [ApiScope.ASK])
    mark(0)
    page = press(open_page(KEYS), words.KEY_REVOKE)
    assert rows(page, words.KEY_STATE) == ["Valid"]
    press(page, words.CHANGE_CANCEL)
    assert services.api_keys.find(new.secret) is not None
    text = page_text(press(press(page, words.KEY_REVOKE), words.KEY_REVOKE_NOW))
    assert services.api_keys.find(new.secret) is None
    assert "&lt;b&gt;Bot" in text
    assert rows(page, words.KEY_STATE) == ["Revoked"]


def test_without_sign_in_there_are_only_keys_of_the_local_user(alone) -> None:
    page = page_in_frame("administration.py").run()
    assert words.API_KEYS in page_text(page)
    assert len(page.text_input) == 1
    page.text_input[0].set_value("Reports")
    press(page, words.KEY_CREATE_NOW)
    key = alone.api_keys.list(LOCAL_USER)[0]
    assert (key.user_id, key.groups) == (LOCAL_USER.user_id, frozenset())
    assert (key.expires_at - key.created_at).days in (90, 91)


def test_the_audit_log_names_objects_and_labels_details(
    services, handbook, open_page: Open
) -> None:
    services.directories.import_directory(LOCAL_USER, handbook)
    added = source(services)
    services.permissions.set_readers(LOCAL_USER, added.id, None)
    owner = account(services, "Ben")
    services.api_keys.create(LOCAL_USER, owner.principal, "Bot", [ApiScope.ASK])
    services.accounts.set_role(LOCAL_USER, owner.id, Role.EDITOR)
    values = {"language": None}
    services.audit.record(
        LOCAL_USER, Action.SETTINGS_CHANGED, "", settings=["chat_model", "language"], values=values
    )
    page = open_page(AUDIT)  # the newest event is the sign-in
    assert rows(page, words.AUDIT_WHO)[1:6] == [words.AUDIT_OPERATOR] * 5
    assert rows(page, words.AUDIT_OBJECT)[1:6] == ["", owner.name, "Bot", added.name, added.name]
    assert rows(page, words.AUDIT_DETAIL)[1:5] == [
        "Settings: Name of the chat model, Language of the pages: default",
        "Role: Editor",
        f"Person: {owner.name} · Scopes: ask",
        "Readers: Everyone",
    ]
    assert added.id not in str(page.dataframe[0].value)


def test_an_event_of_a_later_version_is_shown_as_it_is(services, open_page: Open) -> None:
    services.audit.record(LOCAL_USER, Action.IMPORT_ENDED, "r1", source_id="s1", state="x", eaten=2)
    page = open_page(AUDIT)
    assert rows(page, words.AUDIT_OBJECT)[1] == "s1"
    assert rows(page, words.AUDIT_DETAIL)[1] == "State: x · eaten: 2"
