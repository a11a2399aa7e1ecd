import pytest

from domain import LOCAL_USER, Principal, Role
from domain.errors import ForbiddenError
from domain.version import VERSION
from storage.ledger.ledger_tables import SourceRow


def test_an_empty_library_has_no_index_and_no_runs(build_services):
    now = build_services().status.current(LOCAL_USER)
    assert (now.version, now.index.documents, now.index.passages) == (VERSION, 0, 0)
    assert now.index.active is None
    assert set(now.runs.values()) == set(now.turns.values()) == {0}
    assert now.free_bytes > 0


def test_the_state_is_for_administrators(build_services):
    with pytest.raises(ForbiddenError, match="admin"):
        build_services().status.current(Principal("ada", role=Role.EDITOR))


def test_the_status_describes_the_index_and_the_queue(imported):
    services = imported()
    source = services.sources.list(LOCAL_USER)[0].source
    services.sources.refresh(LOCAL_USER, source.id)
    now = services.status.current(LOCAL_USER)
    assert (now.index.documents, now.index.active.spec.engine) == (4, "embedded")
    assert now.index.passages == services.library.status(LOCAL_USER).passages
    assert now.index.active.fingerprint == services.parts.configured.fingerprint
    assert not now.index.needs_reindex
    assert (now.runs["queued"], now.runs["completed"]) == (1, 1)


def test_an_index_with_other_passages_is_not_current(imported, build_services):
    imported()
    now = build_services(passage_chars=500).status.current(LOCAL_USER)
    assert now.index.documents == 4
    assert now.index.needs_reindex


def test_runs_with_problems_are_listed_with_their_source_latest_first(imported, handbook):
    services = imported()
    assert services.status.problems(LOCAL_USER) == []
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    services.directories.import_directory(LOCAL_USER, handbook)
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7 still broken")
    services.directories.import_directory(LOCAL_USER, handbook)
    problems = services.status.problems(LOCAL_USER)
    assert [one.source for one in problems] == ["handbook"] * 2
    assert problems[0].run.finished_at > problems[1].run.finished_at
    assert problems[0].run.counts["failed"] == 1
    assert len(services.status.problems(LOCAL_USER, limit=1)) == 1


def test_sizes_are_those_of_regular_files_largest_first(build_services):
    services = build_services()
    data_dir = services.parts.settings.data_dir
    (data_dir / "folder" / "inner").mkdir(parents=True)
    (data_dir / "folder" / "inner" / "large.bin").write_bytes(b"x" * 3_000_000)
    (data_dir / "folder" / "small.bin").write_bytes(b"x" * 10)
    (data_dir / "folder" / "link").symlink_to("inner/large.bin")
    sizes = services.status.sizes()
    assert sizes["folder"] == 3_000_010
    assert sizes["footnote.db"] > 0
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)


def test_problems_with_the_files_of_another_person_are_not_listed(imported, handbook):
    services = imported()
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    services.directories.import_directory(LOCAL_USER, handbook)
    source = services.sources.list(LOCAL_USER)[0].source
    with services.parts.database.write() as session:
        session.get(SourceRow, source.id).options = {**source.options, "user_id": "someone else"}
    assert services.status.problems(LOCAL_USER) == []


def test_turns_are_counted_by_state(imported):
    services = imported()
    services.chat.ask(LOCAL_USER, "How many days of annual leave do new employees get?")
    assert services.status.current(LOCAL_USER).turns["complete"] == 1
