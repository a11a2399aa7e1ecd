"""Sources: testing, adding, editing, pausing, refreshing, and removing them."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from domain import LOCAL_USER, ImportKind, ImportState, Principal, Role
from domain.errors import ForbiddenError, InputError, NotFoundError, SourceError
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import Schedule, SourceSettings
from storage.ledger.restriction_store import collection_restriction
from tests.fakes import clock

pytestmark = pytest.mark.usefixtures("ledger_kind")

OTHER_USER = Principal("somebody else")
EDITOR = Principal("bert", frozenset({"hr"}), Role.EDITOR)
ADMIN = Principal("root", frozenset({"hr"}), Role.ADMIN)


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


@pytest.fixture
def add(services, handbook):
    def add(**settings):
        fields = {"path": str(handbook)}
        result = services.sources.add(LOCAL_USER, "directory", fields, SourceSettings(**settings))
        return result.source

    return add


def work(services):
    while services.worker.run_next():
        pass


def status(services, source):
    return services.sources.get(LOCAL_USER, source.id)


def test_a_test_lists_documents_and_stores_nothing(services, handbook):
    (handbook / "tool.exe").write_bytes(b"1")
    result = services.sources.test(LOCAL_USER, "directory", {"path": str(handbook)})
    assert (result.documents, result.is_all) == (4, True)
    assert "leave.md" in result.titles
    assert [one.key for one in result.skipped] == ["tool.exe"]
    assert services.sources.list(LOCAL_USER) == []


def test_a_link_to_a_folder_with_an_invalid_utf_8_name_is_rejected(services, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    (tmp_path / "link").symlink_to(odd)
    with pytest.raises(SourceError, match="is not valid UTF-8: rename it"):
        services.sources.add(
            LOCAL_USER, "directory", {"path": str(tmp_path / "link")}, SourceSettings()
        )
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "is missing"),
        ("handbook", "not an absolute path"),
        ("{folder}/nowhere", "does not exist"),
        ("{folder}/empty", "nothing to import"),
        ("{folder}/data", "data folder"),
        ("{folder}/data/uploads", "data folder"),
        ("{folder}/unreadable", "Nothing at"),
    ],
)
def test_a_folder_that_fails_the_test_is_not_added(services, tmp_path, path, message):
    for name in ("empty", "unreadable", "data/uploads"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / "unreadable" / "tool.exe").write_bytes(b"1")
    fields = {"path": path.format(folder=tmp_path)}
    with pytest.raises(SourceError, match=message):
        services.sources.add(LOCAL_USER, "directory", fields, SourceSettings())
    assert services.sources.list(LOCAL_USER) == []


def test_a_folder_cannot_be_added_twice(services, add, handbook):
    source = add()
    with pytest.raises(SameSourceError, match="already a source") as raised:
        add(name="Another")
    assert raised.value.source.id == source.id
    assert [one.source.name for one in services.sources.list(LOCAL_USER)] == ["handbook"]


@pytest.mark.parametrize("is_inside", [False, True])
def test_a_folder_within_another_source_is_added_with_a_warning(services, handbook, is_inside):
    (handbook / "rules").mkdir()
    (handbook / "rules" / "a.md").write_text("# A")
    beside = handbook.parent / "handbook 2"
    beside.mkdir()
    (beside / "b.md").write_text("# B")
    services.sources.add(LOCAL_USER, "directory", {"path": str(beside)}, SourceSettings())
    outer, inner = handbook, handbook / "rules"
    first, second = (outer, inner) if is_inside else (inner, outer)
    services.sources.add(LOCAL_USER, "directory", {"path": str(first)}, SourceSettings())
    fields = {"path": str(second)}
    warnings = services.sources.test(LOCAL_USER, "directory", fields).warnings
    assert [first.name in one for one in warnings] == [True]
    assert (
        services.sources.add(LOCAL_USER, "directory", fields, SourceSettings()).warnings == warnings
    )


def test_an_unknown_kind_is_rejected(services):
    with pytest.raises(InputError, match="no kind of source 'ftp'"):
        services.sources.test(LOCAL_USER, "ftp", {})


def test_a_source_has_the_figures_and_state_of_its_last_import(services, add, handbook):
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    source = add(collection=" HR ", labels=("law", " "))
    assert status(services, source).state is None
    queued = services.sources.refresh(LOCAL_USER, source.id)
    assert status(services, source).run == queued
    work(services)
    result = status(services, source)
    assert (result.figures.documents, result.figures.failed) == (4, 1)
    assert result.figures.passages == services.library.status(LOCAL_USER).passages
    assert (result.run, result.state) == (None, ImportState.COMPLETED_WITH_ERRORS)
    assert (source.collection, source.labels) == ("HR", ("law",))
    assert services.sources.collections(LOCAL_USER) == ["HR"]


def test_a_dry_run_is_not_the_last_import(services, add):
    source = add()
    services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    assert status(services, source).last is None
    summary = services.import_reports.dry_run(LOCAL_USER, source.id)
    assert (summary.changes, summary.price) == (4, 0)
    assert summary.figures.tokens > 0
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    assert services.import_reports.dry_run(LOCAL_USER, source.id) is None


def test_a_dry_run_estimates_the_price_of_the_tokens(build_services, handbook):
    services = build_services(embed=True, embedding_price=0.5, currency="EUR")
    fields = {"path": str(handbook)}
    source = services.sources.add(LOCAL_USER, "directory", fields, SourceSettings()).source
    services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    summary = services.import_reports.dry_run(LOCAL_USER, source.id)
    assert summary.price == pytest.approx(summary.figures.tokens * 0.5 / 1_000_000)
    assert summary.currency == "EUR"


def test_a_changed_collection_is_applied_by_an_import(services, add):
    source = add()
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    fields = {"include": "", "exclude": ""}
    queued = services.sources.edit(
        LOCAL_USER, source.id, fields, SourceSettings("Handbook", "HR", ("law",), Schedule.DAILY)
    )
    assert queued.kind is ImportKind.IMPORT
    work(services)
    hits = services.search.search(LOCAL_USER, "leave")
    assert {hit.metadata["collection"] for hit in hits} == {"HR"}
    settings = services.sources.settings(LOCAL_USER, source.id)
    assert settings == SourceSettings("Handbook", "HR", ("law",), Schedule.DAILY)


@pytest.mark.parametrize(
    ("collection", "settings"),
    [
        ("HR", SourceSettings("handbook", "Everyone")),  # out of the restricted collection
        ("handbook", SourceSettings("Guide")),  # its name is that of the collection
        ("Everyone", SourceSettings("handbook", "Everyone")),  # into a restricted one
    ],
)
def test_only_an_administrator_moves_a_source_of_a_restricted_collection(
    services, add, collection, settings
):
    source = add(collection="" if collection != "HR" else "HR")
    services.access.restrictions.restrict(collection_restriction(collection), ["group:hr"])
    with pytest.raises(ForbiddenError, match=f"The collection {collection} has a list of readers"):
        services.sources.edit(EDITOR, source.id, {}, settings)
    assert status(services, source).source.collection == source.collection
    services.sources.edit(ADMIN, source.id, {}, settings)
    assert status(services, source).source.collection != source.collection


def test_an_editor_changes_what_does_not_move_a_source_of_a_restricted_collection(services, add):
    source = add(collection="HR")
    services.access.restrictions.restrict(collection_restriction("HR"), ["group:hr"])
    services.sources.edit(EDITOR, source.id, {}, SourceSettings("Guide", "HR", ("law",)))
    assert status(services, source).source.name == "Guide"


def test_more_files_for_a_box_do_not_move_it_out_of_a_restricted_collection(services):
    fields = {"files": [("leave.md", b"25 days")], "box": "Contracts"}
    box = services.sources.add(EDITOR, "upload", fields, SourceSettings(collection="HR")).source
    services.access.restrictions.restrict(collection_restriction("HR"), ["group:hr"])
    more = {"files": [("salaries.md", b"120")], "box": " Contracts"}
    with pytest.raises(ForbiddenError):
        services.sources.add(EDITOR, "upload", more, SourceSettings(collection="Everyone"))
    assert services.uploads.keys(EDITOR, box.id) == ["leave.md"]
    services.sources.add(EDITOR, "upload", fields, SourceSettings())
    assert status(services, box).source.collection == "HR"


def test_changing_only_the_name_queues_no_import(services, add):
    source = add(collection="HR")
    settings = SourceSettings("Handbook", "HR")
    assert services.sources.edit(LOCAL_USER, source.id, {}, settings) is None
    assert status(services, source).source.name == "Handbook"


def test_patterns_without_matches_are_rejected(services, add):
    source = add()
    with pytest.raises(SourceError, match="nothing to import"):
        services.sources.edit(
            LOCAL_USER, source.id, {"include": "*.pdf"}, SourceSettings("handbook")
        )
    assert status(services, source).source.options["include"] == ["**/*"]


@pytest.mark.parametrize(
    ("schedule", "hours"), [(Schedule.HOURLY, 1), (Schedule.DAILY, 24), (Schedule.WEEKLY, 168)]
)
def test_a_scheduled_source_is_refreshed_when_it_is_due(services, add, schedule, hours):
    source = add(schedule=schedule)
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    started_at = status(services, source).last.started_at
    due = started_at + timedelta(hours=hours)
    assert status(services, source).next_refresh == due
    assert services.sources.refresh_due(LOCAL_USER, due - timedelta(seconds=1)) == []
    [queued] = services.sources.refresh_due(LOCAL_USER, due)
    assert queued.source_id == source.id
    assert services.sources.refresh_due(LOCAL_USER, due) == []


def test_a_scheduled_source_of_a_user_is_refreshed_for_that_user(services):
    conversation = services.conversations.begin(OTHER_USER, "About leave").id
    box = services.uploads.add(
        OTHER_USER, [("a.md", b"# A")], conversation_id=conversation
    ).source_id
    services.sources.edit(OTHER_USER, box, {}, SourceSettings(schedule=Schedule.HOURLY))
    work(services)
    later = datetime.now(UTC) + timedelta(days=1)
    [queued] = services.sources.refresh_due(LOCAL_USER, later)
    assert services.queue.current(OTHER_USER) == [queued]
    assert services.sources.refresh_due(LOCAL_USER, later) == [], "it is queued already"


def test_reimporting_one_document_does_not_postpone_the_next_refresh(services, add):
    source = add(schedule=Schedule.DAILY)
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    due = status(services, source).next_refresh
    services.queue.enqueue(LOCAL_USER, source.id, keys=["vpn.md"])
    work(services)
    assert status(services, source).last.keys == ("vpn.md",)
    assert status(services, source).next_refresh == due


def test_each_failed_import_doubles_the_refresh_interval_up_to_a_day(services, add, handbook):
    source = add(schedule=Schedule.HOURLY)
    renamed = handbook.rename(handbook.with_name("away"))
    hours = []
    for n in range(7):
        if n == 6:
            renamed.rename(handbook)
        services.sources.refresh(LOCAL_USER, source.id)
        work(services)
        result = status(services, source)
        hours.append((result.next_refresh - result.last.started_at) / timedelta(hours=1))
    assert hours == [2, 4, 8, 16, 24, 24, 1]


def test_a_clock_set_forward_and_back_neither_repeats_nor_delays_refreshes(
    services, add, monkeypatch
):
    source = add(schedule=Schedule.HOURLY)

    def imports_at(hours):
        """The imports of an hour's worth of looks at the schedule."""
        with monkeypatch.context() as patched:
            clock.set_forward(patched, timedelta(hours=hours))
            moments = [datetime.now(UTC) + timedelta(hours=hours, minutes=m) for m in (0, 20, 40)]
            queued = []
            for moment in moments:
                queued += services.sources.refresh_due(LOCAL_USER, moment)
                work(services)
        return len(queued)

    assert imports_at(2) == 1
    assert imports_at(24 * 365) == 1
    assert imports_at(4) == 1, "the last import is in the future"
    assert imports_at(-24) == 1
    assert imports_at(4) == 0
    assert status(services, source).last is not None


def test_a_source_that_was_added_while_the_clock_was_ahead_is_due(services, add, monkeypatch):
    with monkeypatch.context() as ahead:
        clock.set_forward(ahead, timedelta(days=365))
        add(schedule=Schedule.DAILY)
    now = datetime.now(UTC)
    assert len(services.sources.refresh_due(LOCAL_USER, now)) == 1
    work(services)
    assert services.sources.refresh_due(LOCAL_USER, now + timedelta(minutes=1)) == []


def test_a_paused_source_is_not_refreshed_and_its_import_is_paused(services, add):
    source = add(schedule=Schedule.HOURLY)
    job = services.sources.refresh(LOCAL_USER, source.id)
    services.sources.pause(LOCAL_USER, source.id)
    assert services.queue.get(LOCAL_USER, job.id).state is ImportState.PAUSED
    services.queue.cancel(LOCAL_USER, job.id)
    assert status(services, source).next_refresh is None
    assert services.sources.refresh_due(LOCAL_USER, datetime.now(UTC) + timedelta(days=9)) == []
    services.sources.resume(LOCAL_USER, source.id)
    assert status(services, source).next_refresh is not None


def test_a_removal_is_previewed_and_leaves_nothing_in_the_library(services, add, handbook):
    source = add()
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave do new employees get?")
    preview = services.sources.preview_removal(LOCAL_USER, source.id)
    assert (preview.documents, preview.conversations) == (4, 1)
    services.sources.delete(LOCAL_USER, source.id)
    work(services)
    assert services.sources.list(LOCAL_USER) == []
    check = services.maintenance.check(LOCAL_USER)
    assert (check.agrees, check.documents, check.passages) == (True, 0, 0)
    assert services.search.search(LOCAL_USER, "annual leave") == []
    [stored] = services.turns.list(LOCAL_USER, turn.conversation_id)
    assert stored.citations == turn.citations
    assert (handbook / "leave.md").exists()


def test_a_removal_cancels_queued_imports(services, add):
    source = add()
    job = services.sources.refresh(LOCAL_USER, source.id)
    services.sources.delete(LOCAL_USER, source.id)
    assert services.queue.get(LOCAL_USER, job.id).state is ImportState.CANCELLED


def test_uploaded_files_are_imported_and_deleted_with_their_box(services, tmp_path):
    fields = {"box": "Rules", "files": [("leave.md", b"# Leave\n\n25 days"), ("x.exe", b"1")]}
    result = services.sources.add(LOCAL_USER, "upload", fields, SourceSettings())
    assert [one.key for one in result.rejections] == ["x.exe"]
    services.sources.refresh(LOCAL_USER, result.source.id)
    work(services)
    assert status(services, result.source).figures.documents == 1
    services.sources.delete(LOCAL_USER, result.source.id)
    work(services)
    assert services.sources.list(LOCAL_USER) == []
    assert not list((tmp_path / "data" / "uploads").rglob("*.md"))


def test_files_for_a_box_that_is_being_removed_are_rejected(services):
    box = services.uploads.add(LOCAL_USER, [("a.md", b"# A")], box="Rules").source_id
    removal = services.sources.delete(LOCAL_USER, box)
    with pytest.raises(InputError, match="being removed"):
        services.uploads.add(LOCAL_USER, [("b.md", b"# B")], box="Rules")
    assert services.uploads.keys(LOCAL_USER, box) == ["a.md"]
    services.worker.wait(LOCAL_USER, removal.id)
    assert services.uploads.add(LOCAL_USER, [("b.md", b"# B")], box="Rules").source_id != box


def test_uploading_more_files_keeps_the_settings_of_the_box(services):
    def upload(name, settings):
        fields = {"box": "Rules", "files": [(name, b"# Rule")]}
        return services.sources.add(LOCAL_USER, "upload", fields, settings).source

    first = upload("a.md", SourceSettings("", "HR", ("law",), Schedule.DAILY))
    again = upload("b.md", SourceSettings())
    assert again == first
    settings_after = services.sources.settings(LOCAL_USER, first.id)
    assert settings_after == SourceSettings("Rules", "HR", ("law",), Schedule.DAILY)
    assert upload("c.md", SourceSettings(collection="Law")).collection == "Law"


@pytest.mark.parametrize(
    ("files", "message"), [([], "No file is selected"), ([("x.exe", b"1")], "None of the files")]
)
def test_no_box_is_created_without_a_usable_file(services, files, message):
    with pytest.raises(SourceError, match=message):
        services.sources.add(
            LOCAL_USER, "upload", {"box": "Rules", "files": files}, SourceSettings()
        )
    assert services.sources.list(LOCAL_USER) == []


def test_files_of_a_conversation_are_listed_last_and_only_for_its_owner(services, add):
    conversation = services.conversations.begin(LOCAL_USER, "About leave").id
    box = services.uploads.add(
        LOCAL_USER, [("a.md", b"# A")], conversation_id=conversation
    ).source_id
    source = add()
    assert [one.source.id for one in services.sources.list(LOCAL_USER)] == [source.id, box]
    assert [one.source.id for one in services.sources.list(OTHER_USER)] == [source.id]
    assert services.sources.collections(LOCAL_USER) == ["handbook"]
    with pytest.raises(NotFoundError):
        services.sources.delete(OTHER_USER, box)
    job = services.sources.refresh(LOCAL_USER, box)
    with pytest.raises(NotFoundError):
        services.import_reports.items(OTHER_USER, job.id, limit=9)


def test_a_report_can_be_read_in_pages(services, add):
    source = add()
    job = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    pages = [
        services.import_reports.items(LOCAL_USER, job.id, limit=3, offset=offset)
        for offset in (0, 3)
    ]
    assert [len(page) for page in pages] == [3, 1]
    assert len({item.key for page in pages for item in page}) == 4
    [run] = services.import_reports.history(LOCAL_USER, source.id, limit=5)
    assert (run.id, run.counts) == (job.id, {"new": 4})
