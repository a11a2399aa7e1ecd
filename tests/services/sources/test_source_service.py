"""Sources: added after a test, changed, paused, refreshed in time, removed with everything."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from domain import LOCAL_USER, ImportKind, ImportState, Principal
from errors import InputError, NotFoundError, SourceError
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import Schedule, SourceSettings

SOMEBODY = Principal("somebody else")


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


@pytest.fixture
def add(services, handbook):
    def added(**settings):
        given = {"path": str(handbook)}
        done = services.sources.add(LOCAL_USER, "directory", given, SourceSettings(**settings))
        return done.source

    return added


def work(services):
    while services.worker.run_next():
        pass


def status(services, source):
    return services.sources.get(LOCAL_USER, source.id)


def test_a_test_lists_documents_and_stores_nothing(services, handbook):
    (handbook / "tool.exe").write_bytes(b"1")
    seen = services.sources.test(LOCAL_USER, "directory", {"path": str(handbook)})
    assert (seen.documents, seen.is_all) == (4, True)
    assert "leave.md" in seen.titles
    assert [one.key for one in seen.skipped] == ["tool.exe"]
    assert services.sources.list(LOCAL_USER) == []


def test_a_link_to_a_folder_whose_name_is_no_utf_8_is_refused(services, tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    (tmp_path / "link").symlink_to(odd)
    with pytest.raises(SourceError, match="is not valid UTF-8: rename it"):
        services.sources.add(
            LOCAL_USER, "directory", {"path": str(tmp_path / "link")}, SourceSettings()
        )
    assert services.sources.list(LOCAL_USER) == []


@pytest.mark.parametrize(
    ("path", "told"),
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
def test_a_folder_that_fails_the_test_is_not_added(services, tmp_path, path, told):
    for name in ("empty", "unreadable", "data/uploads"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / "unreadable" / "tool.exe").write_bytes(b"1")
    given = {"path": path.format(folder=tmp_path)}
    with pytest.raises(SourceError, match=told):
        services.sources.add(LOCAL_USER, "directory", given, SourceSettings())
    assert services.sources.list(LOCAL_USER) == []


def test_a_folder_is_added_once(services, add, handbook):
    source = add()
    with pytest.raises(SameSourceError, match="already a source") as caught:
        add(name="Another")
    assert caught.value.source.id == source.id
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
    given = {"path": str(second)}
    told = services.sources.test(LOCAL_USER, "directory", given).warnings
    assert [first.name in one for one in told] == [True]
    assert services.sources.add(LOCAL_USER, "directory", given, SourceSettings()).warnings == told


def test_an_unknown_kind_is_named(services):
    with pytest.raises(InputError, match="no kind of source 'ftp'"):
        services.sources.test(LOCAL_USER, "ftp", {})


def test_a_source_tells_what_it_holds_and_how_its_last_import_ended(services, add, handbook):
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    source = add(collection=" HR ", labels=("law", " "))
    assert status(services, source).state is None
    queued = services.sources.refresh(LOCAL_USER, source.id)
    assert status(services, source).run == queued
    work(services)
    now = status(services, source)
    assert (now.figures.documents, now.figures.failed) == (4, 1)
    assert now.figures.passages == services.library.status(LOCAL_USER).passages
    assert (now.run, now.state) == (None, ImportState.COMPLETED_WITH_ERRORS)
    assert (source.collection, source.labels) == ("HR", ("law",))
    assert services.sources.collections(LOCAL_USER) == ["HR"]


def test_a_dry_run_is_no_last_import(services, add):
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


def test_tokens_have_the_price_that_is_set(build_services, handbook):
    services = build_services(embed=True, embedding_price=0.5, currency="EUR")
    given = {"path": str(handbook)}
    source = services.sources.add(LOCAL_USER, "directory", given, SourceSettings()).source
    services.sources.dry_run(LOCAL_USER, source.id)
    work(services)
    summary = services.import_reports.dry_run(LOCAL_USER, source.id)
    assert summary.price == pytest.approx(summary.figures.tokens * 0.5 / 1_000_000)
    assert summary.currency == "EUR"


def test_another_collection_files_the_documents_anew(services, add):
    source = add()
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    given = {"include": "", "exclude": ""}
    queued = services.sources.edit(
        LOCAL_USER, source.id, given, SourceSettings("Handbook", "HR", ("law",), Schedule.DAILY)
    )
    assert queued.kind is ImportKind.IMPORT
    work(services)
    hits = services.search.search(LOCAL_USER, "leave")
    assert {hit.metadata["collection"] for hit in hits} == {"HR"}
    settings = services.sources.settings(LOCAL_USER, source.id)
    assert settings == SourceSettings("Handbook", "HR", ("law",), Schedule.DAILY)


def test_another_name_alone_queues_nothing_where_the_collection_stays(services, add):
    source = add(collection="HR")
    settings = SourceSettings("Handbook", "HR")
    assert services.sources.edit(LOCAL_USER, source.id, {}, settings) is None
    assert status(services, source).source.name == "Handbook"


def test_patterns_that_find_nothing_are_refused(services, add):
    source = add()
    with pytest.raises(SourceError, match="nothing to import"):
        services.sources.edit(
            LOCAL_USER, source.id, {"include": "*.pdf"}, SourceSettings("handbook")
        )
    assert status(services, source).source.options["include"] == ["**/*"]


@pytest.mark.parametrize(
    ("schedule", "hours"), [(Schedule.HOURLY, 1), (Schedule.DAILY, 24), (Schedule.WEEKLY, 168)]
)
def test_a_scheduled_source_is_refreshed_when_its_time_has_come(services, add, schedule, hours):
    source = add(schedule=schedule)
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    began = status(services, source).last.started_at
    due = began + timedelta(hours=hours)
    assert status(services, source).next_refresh == due
    assert services.sources.refresh_due(LOCAL_USER, due - timedelta(seconds=1)) == []
    [queued] = services.sources.refresh_due(LOCAL_USER, due)
    assert queued.source_id == source.id
    assert services.sources.refresh_due(LOCAL_USER, due) == []


def test_a_scheduled_source_of_one_person_is_refreshed_for_that_person(services):
    conversation = services.conversations.begin(SOMEBODY, "About leave").id
    box = services.uploads.add(SOMEBODY, [("a.md", b"# A")], conversation_id=conversation).source_id
    services.sources.edit(SOMEBODY, box, {}, SourceSettings(schedule=Schedule.HOURLY))
    work(services)
    later = datetime.now(UTC) + timedelta(days=1)
    [queued] = services.sources.refresh_due(LOCAL_USER, later)
    assert services.queue.current(SOMEBODY) == [queued]
    assert services.sources.refresh_due(LOCAL_USER, later) == [], "it is queued already"


def test_importing_one_document_anew_does_not_put_off_the_next_refresh(services, add):
    source = add(schedule=Schedule.DAILY)
    services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    due = status(services, source).next_refresh
    services.queue.enqueue(LOCAL_USER, source.id, keys=["vpn.md"])
    work(services)
    assert status(services, source).last.keys == ("vpn.md",)
    assert status(services, source).next_refresh == due


def test_each_failed_import_doubles_the_time_to_the_next_up_to_a_day(services, add, handbook):
    source = add(schedule=Schedule.HOURLY)
    away = handbook.rename(handbook.with_name("away"))
    hours = []
    for n in range(7):
        if n == 6:
            away.rename(handbook)
        services.sources.refresh(LOCAL_USER, source.id)
        work(services)
        seen = status(services, source)
        hours.append((seen.next_refresh - seen.last.started_at) / timedelta(hours=1))
    assert hours == [2, 4, 8, 16, 24, 24, 1]


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


def test_a_removal_says_what_goes_and_takes_it_out(services, add, handbook):
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
    [kept] = services.turns.list(LOCAL_USER, turn.conversation_id)
    assert kept.citations == turn.citations
    assert (handbook / "leave.md").exists()


def test_a_removal_ends_what_was_queued(services, add):
    source = add()
    job = services.sources.refresh(LOCAL_USER, source.id)
    services.sources.delete(LOCAL_USER, source.id)
    assert services.queue.get(LOCAL_USER, job.id).state is ImportState.CANCELLED


def test_uploaded_files_are_imported_and_deleted_with_their_box(services, tmp_path):
    given = {"box": "Rules", "files": [("leave.md", b"# Leave\n\n25 days"), ("x.exe", b"1")]}
    added = services.sources.add(LOCAL_USER, "upload", given, SourceSettings())
    assert [one.key for one in added.refused] == ["x.exe"]
    services.sources.refresh(LOCAL_USER, added.source.id)
    work(services)
    assert status(services, added.source).figures.documents == 1
    services.sources.delete(LOCAL_USER, added.source.id)
    work(services)
    assert services.sources.list(LOCAL_USER) == []
    assert not list((tmp_path / "data" / "uploads").rglob("*.md"))


def test_files_for_a_box_that_is_being_removed_are_refused_not_lost(services):
    box = services.uploads.add(LOCAL_USER, [("a.md", b"# A")], box="Rules").source_id
    removal = services.sources.delete(LOCAL_USER, box)
    with pytest.raises(InputError, match="being removed"):
        services.uploads.add(LOCAL_USER, [("b.md", b"# B")], box="Rules")
    assert services.uploads.keys(LOCAL_USER, box) == ["a.md"]
    services.worker.wait(LOCAL_USER, removal.id)
    assert services.uploads.add(LOCAL_USER, [("b.md", b"# B")], box="Rules").source_id != box


def test_more_files_for_a_box_leave_what_is_set_of_it(services):
    def upload(name, settings):
        given = {"box": "Rules", "files": [(name, b"# Rule")]}
        return services.sources.add(LOCAL_USER, "upload", given, settings).source

    first = upload("a.md", SourceSettings("", "HR", ("law",), Schedule.DAILY))
    again = upload("b.md", SourceSettings())
    assert again == first
    now = services.sources.settings(LOCAL_USER, first.id)
    assert now == SourceSettings("Rules", "HR", ("law",), Schedule.DAILY)
    assert upload("c.md", SourceSettings(collection="Law")).collection == "Law"


@pytest.mark.parametrize(
    ("files", "told"), [([], "no file"), ([("x.exe", b"1")], "None of the files")]
)
def test_a_box_without_a_fit_file_is_not_made(services, files, told):
    with pytest.raises(SourceError, match=told):
        services.sources.add(
            LOCAL_USER, "upload", {"box": "Rules", "files": files}, SourceSettings()
        )
    assert services.sources.list(LOCAL_USER) == []


def test_files_of_a_conversation_are_listed_last_and_for_its_owner_alone(services, add):
    conversation = services.conversations.begin(LOCAL_USER, "About leave").id
    box = services.uploads.add(
        LOCAL_USER, [("a.md", b"# A")], conversation_id=conversation
    ).source_id
    source = add()
    assert [one.source.id for one in services.sources.list(LOCAL_USER)] == [source.id, box]
    assert [one.source.id for one in services.sources.list(SOMEBODY)] == [source.id]
    assert services.sources.collections(LOCAL_USER) == ["handbook"]
    with pytest.raises(NotFoundError):
        services.sources.delete(SOMEBODY, box)
    job = services.sources.refresh(LOCAL_USER, box)
    with pytest.raises(NotFoundError):
        services.import_reports.items(SOMEBODY, job.id, limit=9)


def test_a_report_is_read_page_by_page(services, add):
    source = add()
    job = services.sources.refresh(LOCAL_USER, source.id)
    work(services)
    pages = [
        services.import_reports.items(LOCAL_USER, job.id, limit=3, offset=offset)
        for offset in (0, 3)
    ]
    assert [len(page) for page in pages] == [3, 1]
    assert len({item.key for page in pages for item in page}) == 4
    [ended] = services.import_reports.history(LOCAL_USER, source.id, limit=5)
    assert (ended.id, ended.counts) == (job.id, {"new": 4})
