"""The import page without a browser, over real services and a worker on demand."""

from collections.abc import Iterator

import pytest
from sqlalchemy import text
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, ImportState, Outcome, Principal, Progress, Role, Stage
from domain.errors import StorageError
from services.sources.source_service import SourceSettings
from storage.ledger.import_leases import ImportLeases, Workers
from storage.ledger.source_store import MIRROR_PERMISSIONS
from tests.pages.conftest import install_services, page_in_frame, page_text
from ui.imports import import_report
from ui.shared import session
from ui.shared.frame import NEW_SOURCE
from ui.text import words
from ui.text.reader_language import LANGUAGE
from ui.text.words import translations

PAGE = "imports.py"


@pytest.fixture
def services(build_services, monkeypatch) -> Iterator:
    yield from install_services(build_services(embed=True), monkeypatch)


@pytest.fixture
def page(services) -> AppTest:
    """The list of sources, with the form for a new one expanded."""
    return expand(open_page())


@pytest.fixture
def source(services, handbook):
    """A folder source that has not been imported."""
    fields = {"path": str(handbook)}
    return services.sources.add(LOCAL_USER, "directory", fields, SourceSettings()).source


def open_page(source=None) -> AppTest:
    page = page_in_frame(PAGE)
    if source is not None:
        page.query_params["source"] = source.id
    return page.run()


def expand(page: AppTest, *, expanded: bool = True) -> AppTest:
    page.session_state["add_source"] = expanded
    return page.run()


def work(services) -> None:
    while services.worker.run_next():
        pass


def button(page: AppTest, label: str):
    buttons = [one for one in page.button if one.label == label]
    assert buttons, f"no button {label!r} among {[one.label for one in page.button]}"
    return buttons[-1]


def press(page: AppTest, label: str) -> str:
    button(page, label).click().run()
    return report_text(page)


def report_text(page: AppTest) -> str:
    return page_text(page) + "".join(one.value for one in [*page.success, *page.html])


def field(page: AppTest, label: str):
    widgets = [*page.text_input, *page.text_area, *page.selectbox]
    return next(one for one in widgets if one.label == label)


def fill_in(page: AppTest, folder) -> None:
    field(page, words.SOURCE_FIELDS["path"]).set_value(str(folder))


def fill_disk(services, table: str) -> None:
    """Let changes of this table of the ledger fail as on a full disk."""
    failure = "SELECT RAISE(ABORT, 'database or disk is full')"
    trigger = f"CREATE TRIGGER full BEFORE UPDATE ON {table} BEGIN {failure}; END"
    with services.parts.database.write() as session:
        session.execute(text(trigger))


def show_view(page: AppTest, source, view: str) -> AppTest:
    page.session_state[f"view-{source.id}"] = view
    return page.run()


def test_without_a_worker_the_page_says_how_to_start_one(page):
    assert words.NO_IMPORT_WORKER in report_text(page)
    assert words.WORKER_COMMAND in report_text(page)
    assert words.NO_SOURCES in report_text(page)


def test_a_link_to_a_new_source_opens_its_form_once(page):
    page.query_params[NEW_SOURCE] = "source"
    page.run()
    assert field(page, words.SOURCE_FIELDS["path"])
    assert NEW_SOURCE not in page.query_params
    assert not expand(page, expanded=False).exception
    assert page.session_state["add_source"] is False


def test_with_a_worker_the_page_does_not_mention_it(services):
    Workers(services.parts.database).renew("w")
    assert words.NO_IMPORT_WORKER not in report_text(open_page())


def test_the_form_is_built_when_expanded_and_stays_when_collapsed(services):
    page = open_page()
    assert not page.text_input
    expand(page)
    assert field(page, words.SOURCE_FIELDS["path"])
    expand(page, expanded=False)
    assert field(page, words.SOURCE_FIELDS["path"])


def test_the_description_of_a_catalog_has_its_own_label(page):
    page.segmented_control(key="add_source_kind").set_value("catalogue").run()
    path = field(page, words.SOURCE_FIELDS["catalogue.path"])
    assert path.placeholder.endswith("catalog.yaml")
    assert path.help == words.SOURCE_FIELD_HELP["catalogue.path"]
    page.segmented_control(key="add_source_kind").set_value("directory").run()
    assert not field(page, words.SOURCE_FIELDS["path"]).help


def test_testing_a_source_shows_its_contents_and_adds_nothing(page, services, handbook):
    (handbook / "tool<b>.exe").write_bytes(b"1")
    fill_in(page, handbook)
    html = press(page, words.TEST_SOURCE)
    assert words.count(words.TEST_PASSED, 4) in html
    assert "leave.md" in html
    assert "tool&lt;b&gt;.exe" in html
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize("label", ["TEST_SOURCE", "ADD_AND_IMPORT", "ADD_AND_DRY_RUN"])
def test_a_missing_folder_is_not_added(page, services, handbook, label):
    fill_in(page, handbook / "nowhere")
    assert "check the spelling of the path" in press(page, getattr(words, label))
    assert services.sources.list(LOCAL_USER) == []


def test_a_new_source_is_selected_and_its_import_queued(page, services, handbook):
    fill_in(page, handbook)
    html = press(page, words.ADD_AND_IMPORT)
    [status] = services.sources.list(LOCAL_USER)
    assert status.run.state is ImportState.QUEUED
    assert page.query_params["source"] == status.source.id
    assert words.RUN_QUEUED in progress_text(page)
    assert words.SOURCE_ADDED.format(name="handbook") in html
    press(page, words.ALL_SOURCES)
    assert field(page, words.SOURCE_FIELDS["path"]).value == ""


def test_a_source_joins_an_existing_collection(services, source, tmp_path):
    services.sources.edit(LOCAL_USER, source.id, {}, SourceSettings("handbook", "HR"))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.md").write_text("# A")
    page = expand(open_page())
    fill_in(page, tmp_path / "rules")
    # AppTest cannot type a new option.
    field(page, words.SOURCE_COLLECTION).set_value("HR")
    press(page, words.ADD_AND_DRY_RUN)
    sources = [one.source for one in services.sources.list(LOCAL_USER)]
    assert {one.name: one.collection for one in sources} == {"handbook": "HR", "rules": "HR"}


def test_adding_a_folder_twice_opens_the_existing_source(page, services, source, handbook):
    fill_in(page, handbook)
    html = press(page, words.ADD_AND_IMPORT)
    assert "already a source" in html
    press(page, words.OPEN_EXISTING.format(name="handbook"))
    assert page.query_params["source"] == source.id


def test_files_are_uploaded_and_rejected_ones_reported(page, services):
    page.segmented_control(key="add_source_kind").set_value("upload").run()
    page.file_uploader[0].set_value([("leave.md", b"# Leave", "text/markdown")])
    press(page, words.UPLOAD_AND_IMPORT)
    [status] = services.sources.list(LOCAL_USER)
    assert status.source.kind == "upload"
    work(services)
    assert services.sources.get(LOCAL_USER, status.source.id).figures.documents == 1


def progress_text(page: AppTest) -> str:
    return " ".join(one.proto.text for one in page.get("progress"))


def test_a_dry_run_shows_counts_and_figures_and_offers_the_import(services, source, handbook):
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    page = open_page(source)
    press(page, words.START_DRY_RUN)
    work(services)
    html = report_text(page.run())
    assert words.DRY_RUN in html
    assert "broken.pdf" in html
    assert words.DRY_RUN_FREE in html
    press(page, words.count(words.IMPORT_CHANGES, 4))
    work(services)
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == 4
    assert words.DRY_RUN not in report_text(page.run())


def test_an_editor_sees_how_many_documents_of_a_dry_run_are_not_named(
    services, source, handbook, monkeypatch
):
    monkeypatch.setattr(session, "principal", lambda services: Principal("ada", role=Role.EDITOR))
    services.access.sources.set_options(source.id, {MIRROR_PERMISSIONS: True})
    services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    html = report_text(open_page(source))
    number = sum(1 for _ in handbook.iterdir())
    assert words.count(words.REPORT_UNNAMED, number) in html
    assert not [one.name for one in handbook.iterdir() if one.name in html]


def test_a_dry_run_without_changes_offers_nothing(services, source):
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    assert words.DRY_RUN_NO_CHANGES in report_text(open_page(source))


@pytest.mark.parametrize("first", ["import", "dry run"])
def test_pending_removals_can_be_confirmed(services, source, handbook, first):
    for n in range(20):
        (handbook / f"{n}.md").write_text(f"# Page {n}")
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    for n in range(20):
        (handbook / f"{n}.md").unlink()
    ask = services.sources.refresh if first == "import" else services.sources.dry_run
    ask(LOCAL_USER, source.id)
    work(services)
    page = open_page(source)
    assert words.count(words.REMOVALS_WITHHELD, 20) in report_text(page)
    press(page, words.count(words.CONFIRM_REMOVALS, 20))
    work(services)
    assert services.sources.get(LOCAL_USER, source.id).figures.documents == 4
    assert words.CHECK_FOLDER not in report_text(page.run())


def test_a_waiting_import_can_be_paused_resumed_and_canceled(services, source):
    import_run = services.sources.refresh(LOCAL_USER, source.id)
    page = open_page(source)
    press(page, words.PAUSE_RUN)
    assert words.RUN_PAUSED in progress_text(page)
    press(page, words.RESUME_RUN)
    assert services.queue.get(LOCAL_USER, import_run.id).state is ImportState.QUEUED
    press(page, words.CANCEL_RUN)
    assert services.queue.get(LOCAL_USER, import_run.id).state is ImportState.CANCELLED
    assert words.IMPORT_STATES["cancelled"] in report_text(page.run())


def test_a_source_can_be_paused_and_resumed(services, source):
    page = open_page(source)
    press(page, words.PAUSE_SOURCE)
    assert services.sources.get(LOCAL_USER, source.id).source.paused
    assert words.IMPORT_STATES["paused"] in report_text(page)
    press(page, words.RESUME_SOURCE)
    assert not services.sources.get(LOCAL_USER, source.id).source.paused


def test_the_history_opens_the_report_of_each_file(services, source, handbook):
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    import_run = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    page = open_page(source)
    assert words.IMPORT_STATES["completed with errors"] in report_text(page)
    field(page, words.HISTORY_CHOOSE).set_value(import_run.id).run()
    assert "broken.pdf" in report_text(page)
    assert "leave.md" not in report_text(page)
    page.button_group(key=f"outcome-{import_run.id}").set_value(Outcome.NEW).run()
    assert "leave.md" in report_text(page)


def test_the_reason_of_a_failure_is_in_the_readers_language(services, source, handbook):
    (handbook / "empty.md").write_bytes(b"")
    import_run = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    reasons = {
        item.key: item.reason for item in services.imports.report(LOCAL_USER, import_run.id).items
    }
    assert reasons["empty.md"] == "the file is empty"
    page = open_page(source)
    page.session_state[LANGUAGE] = "ko"
    page.run()
    field(page, translations("ko")[words.HISTORY_CHOOSE][0]).set_value(import_run.id).run()
    assert "빈 파일입니다" in report_text(page)
    assert "the file is empty" not in report_text(page)


def test_a_long_report_is_paged(services, source, handbook):
    for n in range(60):
        (handbook / f"page{n:02}.md").write_text(f"# Page {n}")
    import_run = services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    page = open_page(source)
    assert words.REPORT_ROWS.format(first="1", last="50", total="64") in report_text(page)
    page.pagination(key=f"items-{import_run.id}-None").set_value(2).run()
    assert words.REPORT_ROWS.format(first="51", last="64", total="64") in report_text(page)


def test_a_long_history_of_unknown_length_is_paged(services, source, monkeypatch):
    monkeypatch.setattr(import_report, "HISTORY_ROWS", 1)
    for _ in range(3):
        services.sources.refresh(LOCAL_USER, source.id)
        work(services)
    page, key = open_page(source), f"history-{source.id}"
    assert page.pagination(key=key).num_pages == 2
    page.pagination(key=key).set_value(2).run()
    page.pagination(key=key).set_value(3).run()
    history = next(one.value for one in page.html if "fn-table" in one.value)
    assert f'data-head="{words.OUTCOMES["new"]}">4<' in history  # the first import


def test_a_source_can_be_edited(services, source):
    page = show_view(open_page(source), source, "edit")
    [*page.text_input][-2].set_value("Rules")
    html = press(page, words.EDIT_SAVE)
    assert words.EDIT_SAVED_IMPORT in html
    assert services.sources.get(LOCAL_USER, source.id).source.name == "Rules"


def test_patterns_that_match_nothing_are_rejected(services, source):
    page = show_view(open_page(source), source, "edit")
    [*page.text_area][-2].set_value("*.nothing")
    assert "nothing to import" in press(page, words.EDIT_SAVE)


def test_files_are_added_to_an_upload_source_and_imported(services):
    fields = {"box": "Rules", "files": [("a.md", b"# A")]}
    box = services.sources.add(LOCAL_USER, "upload", fields, SourceSettings()).source
    page = show_view(open_page(box), box, "edit")
    page.file_uploader[0].set_value([("b.md", b"# B", "text/markdown")])
    press(page, words.EDIT_SAVE)
    assert not page.file_uploader[0].value  # so that the next upload does not include them again
    work(services)
    assert services.sources.get(LOCAL_USER, box.id).figures.documents == 2
    show_view(page, box, "delete")
    assert words.DELETE_UPLOADS in report_text(page)


def test_a_box_whose_new_files_cannot_be_stored_is_not_changed(services, monkeypatch):
    fields = {"box": "Rules", "files": [("a.md", b"# A")]}
    box = services.sources.add(LOCAL_USER, "upload", fields, SourceSettings()).source

    def fail(*_, **__):
        raise StorageError("The disk is full.")

    monkeypatch.setattr("storage.upload_files.require_free_space", fail)
    page = show_view(open_page(box), box, "edit")
    [*page.text_input][-2].set_value("Policies")
    page.file_uploader[0].set_value([("b.md", b"# B", "text/markdown")])
    assert "The disk is full." in press(page, words.EDIT_SAVE)
    assert services.sources.get(LOCAL_USER, box.id).source.name == "Rules"
    assert services.queue.current(LOCAL_USER) == []


def test_new_files_of_a_box_are_imported_although_its_settings_cannot_be_saved(services):
    fields = {"box": "Rules", "files": [("a.md", b"# A")]}
    box = services.sources.add(LOCAL_USER, "upload", fields, SourceSettings()).source

    fill_disk(services, "sources")
    page = show_view(open_page(box), box, "edit")
    [*page.text_input][-2].set_value("Policies")
    page.file_uploader[0].set_value([("b.md", b"# B", "text/markdown")])
    assert "is full: free some space" in press(page, words.EDIT_SAVE)
    assert [run.source_id for run in services.queue.current(LOCAL_USER)] == [box.id]


def test_the_documents_to_be_removed_are_shown_before_a_source_is_deleted(services, source):
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    page = show_view(open_page(source), source, "delete")
    documents, passages = words.count(words.DOCUMENTS, 4), words.count(words.PASSAGES, 5)
    assert words.DELETE_REMOVES.format(documents=documents, passages=passages) in report_text(page)
    assert words.DELETE_KEEPS_FILES in report_text(page)
    assert words.DELETE_QUEUED.format(name="handbook") in press(page, words.DELETE_NOW)
    work(services)
    assert words.NO_SOURCES in report_text(page.run())


def test_an_unknown_source_in_the_url_is_reported_and_cleared(services, source):
    page = page_in_frame(PAGE)
    page.query_params["source"] = "nowhere"
    assert "no such source" in report_text(page.run())
    assert "source" not in page.query_params


def test_a_source_in_the_list_can_be_opened_and_closed(services, source):
    page = open_page()
    press(page, source.name)
    assert page.query_params["source"] == source.id
    assert source.location in report_text(page)
    press(page, words.ALL_SOURCES)
    assert source.location not in report_text(page)


def polled_list() -> None:
    import streamlit as st

    from ui.imports.imports_page import _show_list
    from ui.shared import frame

    _show_list(frame.services(), polled=st.session_state.pop("polled", False))


def test_a_source_pressed_while_the_last_import_ends_is_opened(services, source):
    page = AppTest.from_function(polled_list, default_timeout=20).run()
    page.session_state["polled"] = True
    press(page, source.name)
    assert page.query_params["source"] == source.id


def polled_import() -> None:
    import streamlit as st

    from domain import LOCAL_USER, ImportState
    from ui.imports.import_report import _show_import_run
    from ui.shared import frame

    services, import_id = frame.services(), st.session_state["import_id"]
    started = st.session_state.pop("started", False)
    now = services.queue.get(LOCAL_USER, import_id).state
    _show_import_run(services, import_id, ImportState.RUNNING if started else now)


def test_canceling_works_when_the_state_changes_at_the_same_moment(services, source):
    page = AppTest.from_function(polled_import, default_timeout=20)
    import_run = services.sources.refresh(LOCAL_USER, source.id)
    page.session_state["import_id"] = import_run.id
    page.run()
    page.session_state["started"] = True
    button(page, words.CANCEL_RUN).click().run()
    assert services.queue.get(LOCAL_USER, import_run.id).state is ImportState.CANCELLED


def test_source_names_are_not_rendered_as_markup(services, source):
    fields = {"include": "", "exclude": ""}
    services.sources.edit(LOCAL_USER, source.id, fields, SourceSettings("<b>x</b>"))
    page = open_page(source)
    assert "&lt;b&gt;x&lt;/b&gt;" in "".join(one.value for one in page.html)


def test_conversation_files_are_listed_separately(services, source):
    conversation = services.conversations.begin(LOCAL_USER, "About leave").id
    services.uploads.add(LOCAL_USER, [("a.md", b"# A")], conversation_id=conversation)
    assert words.count(words.CONVERSATION_BOXES, 1) in [one.label for one in open_page().expander]


def test_a_list_that_cannot_be_loaded_shows_the_reason_in_its_place(services, source):
    with services.parts.database.write() as session:
        session.execute(text("ALTER TABLE documents RENAME TO lost"))
    page = open_page()
    assert "no such table: documents" in report_text(page)
    assert not page.exception


def running_import(services, source, **progress):
    """A queued import that a worker has begun, with this progress."""
    run = services.sources.refresh(LOCAL_USER, source.id)
    leases = ImportLeases(services.parts.database)
    leases.claim("w")
    leases.save_progress(run.id, "w", Progress(Stage.EMBEDDING, 3, 9, **progress), 10.0)


def test_a_running_import_shows_passages_and_the_time_left(services, source):
    figures = {"passages": 1200, "part": 40, "parts": 400, "read": 1600, "expected": 5600}
    running_import(services, source, **figures, seconds_left=192)
    page = open_page(source)
    html = report_text(page)
    assert words.RUN_READ_OF.format(done=3, total=9) in html
    assert words.TIME_LEFT.format(time="3 minutes") in html
    assert words.RUN_PASSAGES_ABOUT.format(done="1,200", expected="5,600") in progress_text(page)


def test_an_import_whose_turn_is_over_waits_for_its_turn_with_its_progress(services, source):
    running_import(services, source, passages=90, read=90, expected=90)
    [run] = services.queue.current(LOCAL_USER)
    leases = ImportLeases(services.parts.database)
    leases.stop(run.id, "w", ImportState.QUEUED, seconds=10.0)
    page = open_page(source)
    assert words.RUN_GAVE_WAY in progress_text(page)
    assert page.get("progress")[0].proto.value > 0


def test_an_import_is_almost_done_instead_of_having_no_seconds_left(services, source):
    running_import(services, source, passages=90, read=90, expected=90, seconds_left=1)
    page = open_page(source)
    html = report_text(page)
    assert words.RUN_PASSAGES.format(done=90, expected=90) in progress_text(page)
    assert words.ALMOST_DONE in html
    assert "0 seconds" not in html


def test_a_source_with_documents_leads_to_questions_about_it(services, source):
    assert words.ASK_ABOUT_SOURCE not in [one.label for one in open_page(source).button]
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    page = open_page(source)
    button(page, words.ASK_ABOUT_SOURCE).click().run()
    search = page.session_state["scope-of-the-new-conversation"]
    assert search.scope.sources == (source.id,)


def test_the_report_of_an_import_leads_to_questions_about_its_documents(services, source):
    first = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    again = services.sources.refresh(LOCAL_USER, source.id)
    dry_run = services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    page = open_page(source)
    for run in (again, dry_run):  # they added nothing
        field(page, words.HISTORY_CHOOSE).set_value(run.id).run()
        assert f"ask-{run.id}" not in [one.key for one in page.button]
    field(page, words.HISTORY_CHOOSE).set_value(first.id).run()
    page.button(key=f"ask-{first.id}").click().run()
    search = page.session_state["scope-of-the-new-conversation"]
    assert search.scope.sources == (source.id,)


def test_the_samples_can_be_imported_and_removed_again(services):
    page = open_page()
    button(page, words.EMPTY_SAMPLES).click().run()
    assert services.directories.samples(LOCAL_USER)
    button(page, words.SAMPLES_REMOVE_NOW).click().run()
    assert not page.exception
    assert services.directories.samples(LOCAL_USER) is None
    assert words.EMPTY_SAMPLES in [one.label for one in page.button]


def test_the_options_that_most_sources_keep_are_folded(page):
    folded = next(one for one in page.expander if one.label == words.MORE_OPTIONS)
    labels = [one.label for one in folded.text_area] + [one.label for one in folded.text_input]
    assert words.SOURCE_FIELDS["include"] in labels
    assert words.SOURCE_NAME in labels
    assert words.SOURCE_FIELDS["path"] not in labels
    assert not folded.proto.expanded


def test_an_error_that_a_folded_field_may_cause_unfolds_it(page, handbook):
    field(page, words.SOURCE_FIELDS["path"]).set_value(str(handbook))
    field(page, words.SOURCE_FIELDS["include"]).set_value("*.nothing")
    press(page, words.ADD_AND_IMPORT)
    folded = next(one for one in page.expander if one.label == words.MORE_OPTIONS)
    assert folded.proto.expanded
    assert "There is nothing to import" in page_text(page)


def test_uploads_have_one_field_for_their_name(page):
    page.segmented_control(key="add_source_kind").set_value("upload").run()
    labels = [one.label for one in page.text_input]
    assert words.SOURCE_FIELDS["box"] in labels
    assert words.SOURCE_NAME not in labels
