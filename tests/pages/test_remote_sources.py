"""The forms for Confluence and Google Drive on the import page, over the real services."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from domain import (
    LOCAL_USER,
    DocumentFilter,
    ImportKind,
    ImportState,
    Progress,
    QueuedImport,
    Stage,
)
from services.source_status import SourceSettings
from tests.fakes.confluence import API_TOKEN, EMAIL, FakeConfluence
from tests.fakes.google_drive import IMPORTER, FakeDrive
from tests.pages.conftest import served
from tests.pages.test_imports import (
    button,
    field,
    opened,
    press,
    show_view,
    told,
    unfold,
    work,
)
from ui import import_progress, import_report, passages_view, words


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
    built = build_services(embed=True, google_api_url=drive.origin)
    yield from served(built, monkeypatch)


@pytest.fixture
def page(services) -> AppTest:
    return form("confluence")


@pytest.fixture
def source(services, site):
    return services.sources.add(LOCAL_USER, "confluence", given(site), SourceSettings()).source


def given(site: FakeConfluence) -> dict:
    login = {"login": "cloud", "email": EMAIL, "api_token": API_TOKEN}
    return {"url": site.url, "scope": "everything", **login}


def form(kind: str) -> AppTest:
    page = unfold(opened())
    return page.segmented_control(key="add_source_kind").set_value(kind).run()


def choose(page: AppTest, name: str, value: str) -> None:
    field(page, words.SOURCE_FIELDS[name]).set_value(value).run()


def fill_in(page: AppTest, **values: str) -> None:
    for name, value in values.items():
        field(page, words.SOURCE_FIELDS[name]).set_value(value)


def names(page: AppTest) -> set[str]:
    """The fields that are there, by name."""
    labels = {one.label for one in [*page.text_input, *page.text_area, *page.selectbox]}
    labels |= {one.label for one in page.toggle}
    return {name for name, label in words.SOURCE_FIELDS.items() if label in labels}


FIRST = {"login", "scope", "url", "email", "api_token", "spaces"}
ALWAYS = {"skip_labels", "deletions", "attachments", "comments", "archived"}


def test_only_the_fields_that_matter_are_shown(page):
    assert names(page) == FIRST | ALWAYS
    choose(page, "login", "token")
    assert names(page) == FIRST - {"email", "api_token"} | {"access_token"} | ALWAYS
    choose(page, "login", "basic")
    assert {"user", "password"} <= names(page)
    for scope, shown in [("trees", "trees"), ("labels", "page_labels"), ("cql", "cql")]:
        choose(page, "scope", scope)
        assert shown in names(page)
        assert "spaces" not in names(page)
    choose(page, "scope", "everything")
    assert not {"spaces", "trees", "page_labels", "cql"} & names(page)


def test_secrets_are_typed_unseen_and_told_where_they_are_kept(page):
    token = field(page, words.SOURCE_FIELDS["api_token"])
    assert token.proto.type == token.proto.PASSWORD
    assert token.proto.autocomplete == "off"
    assert "$FOOTNOTE_SECRET_" in token.help


def test_a_test_shows_who_is_signed_in_and_adds_nothing(page, services, site):
    fill_in(page, url=site.url, email=EMAIL, api_token=API_TOKEN, spaces="DOC, NONE")
    html = press(page, words.TEST_SOURCE)
    assert words.count(words.TEST_PASSED, 1) in html
    assert "Signed in as Kim" in html
    assert "Guide &lt;b&gt;" in html
    assert "The space NONE is not there" in html
    assert API_TOKEN not in html
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize("label", ["TEST_SOURCE", "ADD_AND_IMPORT"])
def test_a_wrong_token_tells_what_to_do(page, services, site, label):
    fill_in(page, url=site.url, email=EMAIL, api_token="not-the-token", spaces="DOC")
    html = press(page, getattr(words, label))
    assert "refused the credentials" in html
    assert "not-the-token" not in html
    assert services.sources.list(LOCAL_USER) == []


def test_a_site_is_added_and_imported(page, services, site):
    fill_in(page, url=site.url, email=EMAIL, api_token=API_TOKEN, spaces="DOC")
    html = press(page, words.ADD_AND_IMPORT)
    assert words.SOURCE_ADDED.format(name="Documentation") in html
    work(services)
    assert f"{site.url} · DOC" in told(page.run())
    [status] = services.sources.list(LOCAL_USER)
    assert (status.state, status.figures.documents) == (ImportState.COMPLETED, 1)


def test_in_the_form_for_changing_it_where_it_is_is_fixed_and_no_secret_shown(services, source):
    page = show_view(opened(source), source, "edit")
    assert names(page) == {"login", "email", "api_token"} | ALWAYS
    token = field(page, words.SOURCE_FIELDS["api_token"])
    assert (token.value, token.placeholder) == ("", words.STAYS_AS_IT_IS)
    page.toggle[1].set_value(True)
    press(page, words.EDIT_SAVE)
    options = services.sources.get(LOCAL_USER, source.id).source.options
    assert options["comments"] is True
    work(services)
    assert services.sources.get(LOCAL_USER, source.id).state == ImportState.COMPLETED


def test_another_way_to_sign_in_asks_for_its_own_secret(services, source):
    page = show_view(opened(source), source, "edit")
    choose(page, "login", "token")
    assert names(page) == {"login", "access_token"} | ALWAYS
    assert "access token is missing" in press(page, words.EDIT_SAVE)


def test_of_a_secret_in_the_environment_its_variable_is_told(services, site, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_SECRET_WIKI", API_TOKEN)
    named = given(site) | {"api_token": "$FOOTNOTE_SECRET_WIKI"}
    source = services.sources.add(LOCAL_USER, "confluence", named, SourceSettings()).source
    page = show_view(opened(source), source, "edit")
    shown = field(page, words.SOURCE_FIELDS["api_token"]).placeholder
    assert shown == words.STAYS_AS_NAMED.format(name="$FOOTNOTE_SECRET_WIKI")


def test_to_delete_it_leaves_the_site_as_it_is(services, source):
    page = show_view(opened(source), source, "delete")
    assert words.DELETE_KEEPS_PAGES in told(page)


def test_what_a_drive_leaves_out_is_named_as_people_know_it(services, drive):
    folder = drive.folder("Handbook")
    drive.share(folder)
    drive.doc("Leave", "# Leave\n\n25 days.", folder)
    drive.other("Survey", "form", folder)
    page = form("google_drive")
    fill_in(page, service_account=json.dumps(drive.service_account()), folders=folder.id)
    press(page, words.TEST_SOURCE)
    assert "<li>Survey: Footnote does not read" in told(page)
    press(page, words.ADD_AND_IMPORT)
    work(services)
    [status] = services.sources.list(LOCAL_USER)
    job, *_ = services.import_reports.history(LOCAL_USER, status.source.id, limit=1)
    items = services.import_reports.items(LOCAL_USER, job.id, limit=9)
    shown = [import_report._name(item) for item in items]
    assert {name.partition(">")[2] for name in shown} == {"Survey</a>", "Leave</a>"}


def test_a_folder_of_a_drive_is_added_and_imported(services, drive):
    folder = drive.folder("Handbook")
    drive.share(folder)
    drive.doc("Leave", "# Leave\n\n25 days.", folder)
    page = form("google_drive")
    assert names(page) == {"login", "scope", "service_account", "folders", "types"}
    choose(page, "scope", "drives")
    assert "drives" in names(page)
    choose(page, "scope", "folders")
    fill_in(page, service_account=json.dumps(drive.service_account()), folders=folder.id)
    assert IMPORTER in press(page, words.TEST_SOURCE)
    assert words.SOURCE_ADDED.format(name="Handbook") in press(page, words.ADD_AND_IMPORT)
    work(services)
    [status] = services.sources.list(LOCAL_USER)
    assert (status.state, status.figures.documents) == (ImportState.COMPLETED, 1)


def test_the_kinds_are_offered_in_their_order(page):
    kinds = page.segmented_control(key="add_source_kind").options
    assert kinds == [
        "Folder",
        "Confluence",
        "Google Drive",
        "Catalogue of places",
        "Uploaded files",
    ]
    assert button(page, words.TEST_SOURCE)


def job(state: ImportState, **more) -> QueuedImport:
    return QueuedImport("i", "s", ImportKind.IMPORT, state, datetime.now(UTC), **more)


def test_while_it_waits_the_reason_is_told():
    reason = "Confluence asked to wait (429)"
    waits = job(ImportState.RUNNING, progress=Progress(Stage.WAITING, 3, 0, reason))
    assert reason in import_progress._details(waits)
    assert words.JOB_STAGES["waiting"] in import_progress._details(waits)
    assert import_progress._headline(waits) == words.count(words.JOB_LISTED, 3)


def test_an_interrupted_import_tells_why_and_when_it_tries_again():
    at = datetime.now(UTC) + timedelta(minutes=5, seconds=1)
    reason = "https://wiki.example can't be reached"
    left = job(ImportState.INTERRUPTED, retry_at=at, message=f"{reason}. What was imported is kept")
    assert "5 minutes" in import_progress._headline(left)
    assert reason.replace("'", "&#x27;") in import_progress._details(left)
    assert import_progress._headline(job(ImportState.INTERRUPTED)) == words.JOB_INTERRUPTED


def test_the_library_tells_the_space_author_and_labels_of_a_page_and_leads_there(
    services, site, source
):
    site.label(next(iter(site.contents)), "howto")
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    [document] = services.documents.page(LOCAL_USER, DocumentFilter()).documents
    facts = passages_view.facts_html(document, source.name)
    for name, value in (("SPACE", "Documentation"), ("AUTHOR", "Kim Minji"), ("LABELS", "howto")):
        assert f"<dt>{getattr(words, f'COLUMN_{name}')}</dt><dd>{value}</dd>" in facts
    assert f'href="{document.location}"' in facts
    assert words.COLUMN_KEY not in facts
