"""The Confluence and Google Drive forms of the import page, over real services."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from domain import (
    LOCAL_USER,
    DocumentFilter,
    ImportKind,
    ImportRun,
    ImportState,
    Progress,
    Stage,
)
from services.sources.source_service import SourceSettings
from tests.fakes.confluence import API_TOKEN, EMAIL, FakeConfluence
from tests.fakes.google_drive import IMPORTER, FakeDrive
from tests.pages.conftest import install_services
from tests.pages.test_imports import (
    button,
    expand,
    field,
    open_page,
    press,
    report_text,
    show_view,
    work,
)
from ui.documents import passage_list
from ui.imports import import_report
from ui.text import words


@pytest.fixture
def site() -> Iterator[FakeConfluence]:
    with FakeConfluence(cloud=True) as site:
        site.add_space("DOC", "Documentation")
        site.add("DOC", "Guide <b>", "<p>Where everything begins.</p>")
        yield site
        assert site.refused == []


@pytest.fixture
def drive() -> Iterator[FakeDrive]:
    with FakeDrive() as drive:
        yield drive


@pytest.fixture
def services(build_services, drive, monkeypatch) -> Iterator:
    services_with_drive = build_services(embed=True, google_api_url=drive.origin)
    yield from install_services(services_with_drive, monkeypatch)


@pytest.fixture
def page(services) -> AppTest:
    return form("confluence")


@pytest.fixture
def source(services, site):
    return services.sources.add(LOCAL_USER, "confluence", fields(site), SourceSettings()).source


def fields(site: FakeConfluence) -> dict:
    login = {"login": "cloud", "email": EMAIL, "api_token": API_TOKEN}
    return {"url": site.url, "scope": "everything", **login}


def form(kind: str) -> AppTest:
    page = expand(open_page())
    return page.segmented_control(key="add_source_kind").set_value(kind).run()


def choose(page: AppTest, name: str, value: str) -> None:
    field(page, words.SOURCE_FIELDS[name]).set_value(value).run()


def fill_in(page: AppTest, **values: str) -> None:
    for name, value in values.items():
        field(page, words.SOURCE_FIELDS[name]).set_value(value)


def names(page: AppTest) -> set[str]:
    """The visible fields, by name."""
    labels = {one.label for one in [*page.text_input, *page.text_area, *page.selectbox]}
    labels |= {one.label for one in page.toggle}
    return {name for name, label in words.SOURCE_FIELDS.items() if label in labels}


FIRST = {"login", "scope", "url", "email", "api_token", "spaces"}
ALWAYS = {
    *("skip_labels", "deletions", "attachments", "comments", "archived", "mirror_permissions"),
}


def test_only_relevant_fields_are_shown(page):
    assert names(page) == FIRST | ALWAYS
    choose(page, "login", "token")
    assert names(page) == FIRST - {"email", "api_token"} | {"access_token"} | ALWAYS
    choose(page, "login", "basic")
    assert {"user", "password"} <= names(page)
    for scope, name in [("trees", "trees"), ("labels", "page_labels"), ("cql", "cql")]:
        choose(page, "scope", scope)
        assert name in names(page)
        assert "spaces" not in names(page)
    choose(page, "scope", "everything")
    assert not {"spaces", "trees", "page_labels", "cql"} & names(page)


def test_secrets_are_masked_and_their_storage_is_explained(page):
    token = field(page, words.SOURCE_FIELDS["api_token"])
    assert token.proto.type == token.proto.PASSWORD
    assert token.proto.autocomplete == "off"
    assert "$FOOTNOTE_SECRET_" in token.help


def test_testing_a_source_shows_the_signed_in_account_and_adds_nothing(page, services, site):
    fill_in(page, url=site.url, email=EMAIL, api_token=API_TOKEN, spaces="DOC, NONE")
    html = press(page, words.TEST_SOURCE)
    assert words.count(words.TEST_PASSED, 1) in html
    assert "Signed in as Kim" in html
    assert "Guide &lt;b&gt;" in html
    assert "The space NONE does not exist" in html
    assert API_TOKEN not in html
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize("label", ["TEST_SOURCE", "ADD_AND_IMPORT"])
def test_a_wrong_token_message_says_what_to_do(page, services, site, label):
    fill_in(page, url=site.url, email=EMAIL, api_token="not-the-token", spaces="DOC")
    html = press(page, getattr(words, label))
    assert "rejected the credentials" in html
    assert "not-the-token" not in html
    assert services.sources.list(LOCAL_USER) == []


def test_a_site_is_added_and_imported(page, services, site):
    fill_in(page, url=site.url, email=EMAIL, api_token=API_TOKEN, spaces="DOC")
    html = press(page, words.ADD_AND_IMPORT)
    assert words.SOURCE_ADDED.format(name="Documentation") in html
    work(services)
    assert f"{site.url} · DOC" in report_text(page.run())
    [status] = services.sources.list(LOCAL_USER)
    assert (status.state, status.figures.documents) == (ImportState.COMPLETED, 1)


def test_the_edit_form_fixes_the_location_and_hides_the_secret(services, source):
    page = show_view(open_page(source), source, "edit")
    assert names(page) == {"login", "email", "api_token"} | ALWAYS
    token = field(page, words.SOURCE_FIELDS["api_token"])
    assert (token.value, token.placeholder) == ("", words.STAYS_AS_IT_IS)
    page.toggle[1].set_value(True)
    press(page, words.EDIT_SAVE)
    options = services.sources.get(LOCAL_USER, source.id).source.options
    assert options["comments"] is True
    work(services)
    assert services.sources.get(LOCAL_USER, source.id).state == ImportState.COMPLETED


def test_another_sign_in_method_asks_for_its_own_secret(services, source):
    page = show_view(open_page(source), source, "edit")
    choose(page, "login", "token")
    assert names(page) == {"login", "access_token"} | ALWAYS
    assert "access token is missing" in press(page, words.EDIT_SAVE)


def test_the_variable_of_an_environment_secret_is_named(services, site, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_SECRET_WIKI", API_TOKEN)
    values = fields(site) | {"api_token": "$FOOTNOTE_SECRET_WIKI"}
    source = services.sources.add(LOCAL_USER, "confluence", values, SourceSettings()).source
    page = show_view(open_page(source), source, "edit")
    placeholder = field(page, words.SOURCE_FIELDS["api_token"]).placeholder
    assert placeholder == words.EMPTY_KEEPS_NAME.format(name="$FOOTNOTE_SECRET_WIKI")


def test_deleting_the_source_does_not_change_the_site(services, source):
    page = show_view(open_page(source), source, "delete")
    assert words.DELETE_KEEPS_PAGES in report_text(page)


def test_skipped_drive_items_are_named_in_familiar_terms(services, drive):
    folder = drive.folder("Handbook")
    drive.share(folder)
    drive.doc("Leave", "# Leave\n\n25 days.", folder)
    drive.other("Survey", "form", folder)
    page = form("google_drive")
    fill_in(page, service_account=json.dumps(drive.service_account()), folders=folder.id)
    press(page, words.TEST_SOURCE)
    assert "<li>Survey: Footnote does not read" in report_text(page)
    press(page, words.ADD_AND_IMPORT)
    work(services)
    [status] = services.sources.list(LOCAL_USER)
    import_run, *_ = services.import_reports.history(LOCAL_USER, status.source.id, limit=1)
    items = services.import_reports.items(LOCAL_USER, import_run.id, limit=9)
    links = [import_report._name(item) for item in items]
    assert {name.partition(">")[2] for name in links} == {"Survey</a>", "Leave</a>"}


def test_a_drive_folder_is_added_and_imported(services, drive):
    folder = drive.folder("Handbook")
    drive.share(folder)
    drive.doc("Leave", "# Leave\n\n25 days.", folder)
    page = form("google_drive")
    assert names(page) == {
        "login",
        "scope",
        "service_account",
        "folders",
        "types",
        "mirror_permissions",
    }
    choose(page, "scope", "drives")
    assert "drives" in names(page)
    choose(page, "scope", "folders")
    fill_in(page, service_account=json.dumps(drive.service_account()), folders=folder.id)
    assert IMPORTER in press(page, words.TEST_SOURCE)
    assert words.SOURCE_ADDED.format(name="Handbook") in press(page, words.ADD_AND_IMPORT)
    work(services)
    [status] = services.sources.list(LOCAL_USER)
    assert (status.state, status.figures.documents) == (ImportState.COMPLETED, 1)


def test_source_kinds_are_offered_in_order(page):
    kinds = page.segmented_control(key="add_source_kind").options
    assert kinds == [
        "Folder",
        "Confluence",
        "Google Drive",
        "Catalog of places",
        "Uploaded files",
    ]
    assert button(page, words.TEST_SOURCE)


def run_in_state(state: ImportState, **more) -> ImportRun:
    return ImportRun("i", "s", ImportKind.IMPORT, state, datetime.now(UTC), **more)


def test_the_reason_for_waiting_is_shown():
    reason = "Confluence asked to wait (429)"
    waiting = run_in_state(ImportState.RUNNING, progress=Progress(Stage.WAITING, 3, 0, reason))
    assert reason in import_report._details(waiting)
    assert words.RUN_STAGES["waiting"] in import_report._details(waiting)
    assert import_report._headline(waiting) == words.count(words.RUN_LISTED, 3)


def test_an_interrupted_import_shows_the_reason_and_the_next_attempt():
    at = datetime.now(UTC) + timedelta(minutes=5, seconds=1)
    reason = "https://wiki.example can't be reached"
    interrupted = run_in_state(
        ImportState.INTERRUPTED, retry_at=at, message=f"{reason}. Imported documents are kept"
    )
    assert "5 minutes" in import_report._headline(interrupted)
    assert reason.replace("'", "&#x27;") in import_report._details(interrupted)
    assert import_report._headline(run_in_state(ImportState.INTERRUPTED)) == words.RUN_INTERRUPTED


def test_the_library_shows_space_author_and_labels_and_links_to_the_page(services, site, source):
    site.label(next(iter(site.contents)), "howto")
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    [document] = services.documents.page(LOCAL_USER, DocumentFilter()).documents
    facts = passage_list.facts_html(document, source.name)
    for name, value in (("SPACE", "Documentation"), ("AUTHOR", "Kim Minji"), ("LABELS", "howto")):
        assert f"<dt>{getattr(words, f'COLUMN_{name}')}</dt><dd>{value}</dd>" in facts
    assert f'href="{document.location}"' in facts
    assert words.COLUMN_KEY not in facts


@pytest.mark.parametrize(
    ("kind", "login", "address"),
    [
        ("confluence", "cloud", "https://id.atlassian.com/manage-profile/security/api-tokens"),
        ("confluence", "token", "https://confluence.atlassian.com/"),
        ("google_drive", "service_account", "https://console.cloud.google.com/"),
        ("google_drive", "oauth", "https://console.cloud.google.com/"),
    ],
)
def test_the_form_links_to_where_a_token_is_created(services, kind, login, address):
    page = form(kind)
    choose(page, "login", login)
    link = next(one.value for one in page.html if "fn-sign-in-help" in one.value)
    assert f'href="{address}' in link
    assert 'target="_blank" rel="noopener"' in link


def test_the_address_of_a_site_comes_before_the_choices(page):
    first = next(iter(page.get("expander")[0].text_input))
    assert first.label == words.SOURCE_FIELDS["url"]


def test_mirroring_permissions_is_off_until_it_is_chosen_and_explained(page, services, site):
    toggle = next(
        one for one in page.toggle if one.label == words.SOURCE_FIELDS["mirror_permissions"]
    )
    assert not toggle.value
    assert toggle.help == words.SOURCE_FIELD_HELP["mirror_permissions"]
    toggle.set_value(True)
    fill_in(page, url=site.url, email=EMAIL, api_token=API_TOKEN, spaces="DOC")
    press(page, words.ADD_AND_IMPORT)
    [source] = services.sources.list(LOCAL_USER)
    assert source.source.options["mirror_permissions"] is True
