"""Random faults lose nothing: two of each process over PostgreSQL and three OpenSearch nodes.

The whole test is `python -m tests.faults --faults 100`; docs/scaling.md has its results.
"""

from datetime import UTC, datetime

import pytest

from domain import ImportKind, ImportState
from storage.ledger.database import open_database
from storage.ledger.ledger_tables import ImportItemRow, ImportRow
from storage.ledger.source_store import Sources
from tests.deploy.containers import missing_programs
from tests.faults.commits import Commits
from tests.faults.plan import Kind, planned_faults

SEED, FAULTS = 1, 8

pytestmark = pytest.mark.timeout(900)  # as long as on a busy machine; three nodes start slowly


@pytest.mark.slow
@pytest.mark.opensearch
@pytest.mark.postgresql
def test_random_faults_lose_nothing(opensearch_programs, tmp_path):
    from tests.faults.topology import topology
    from tests.faults.trial import run
    from tests.postgresql.server import missing_programs as missing_postgresql

    if problem := missing_programs() or missing_postgresql():
        pytest.skip(problem)
    lines = []
    with topology(tmp_path) as running:
        report = run(running, planned_faults(FAULTS, SEED), SEED, lines.append)
    assert report.violations == [], "\n".join([*lines, *report.lines()])
    assert report.commits > 100
    assert len(report.clients.questions) > 50


def test_each_kind_of_fault_occurs_equally_often_and_a_seed_repeats_them():
    faults = planned_faults(100, 1)
    counts = {kind: sum(one.kind is kind for one in faults) for kind in Kind}
    assert set(counts.values()) == {11, 12}
    assert faults == planned_faults(100, 1) != planned_faults(100, 2)


@pytest.mark.postgresql
def test_the_witness_finds_a_write_without_a_lease_and_a_repeated_record(
    postgresql_server, tmp_path
):
    postgresql_server.execute("CREATE DATABASE witness")
    url = f"{postgresql_server.url('witness')}?application_name=worker-1"
    database = open_database(tmp_path, url)
    commits = Commits(postgresql_server, "witness")
    source = Sources(database).ensure("directory", "/handbook", name="handbook")
    with database.write() as session:
        for worker in ("worker-1", "worker-2"):
            session.add(running_import(source.id, f"{worker}/7/a"))
    for worker, key in (("worker-1", "a"), ("worker-2", "b"), ("worker-1", "a")):
        with database.write() as session:
            session.add(item(worker, key))
    database.close()
    assert commits.repeated_items() == ["import of worker-1/7/a recorded a 2 times"]
    [found] = commits.zombies()
    assert "worker-1 committed new b of import of worker-2" in found
    postgresql_server.execute("DROP DATABASE witness WITH (FORCE)")


def running_import(source_id, worker):
    return ImportRow(
        id=f"of {worker}",
        source_id=source_id,
        user_id="ada",
        state=ImportState.RUNNING,
        kind=ImportKind.IMPORT,
        started_at=datetime.now(UTC),
        worker=worker,
    )


def item(worker, key):
    return ImportItemRow(
        import_id=f"of {worker}/7/a", key=key, location="", outcome="new", reason="", passages=1
    )
