"""Processes of two releases share a migrated ledger while one replaces the other."""

import subprocess
import sys
from dataclasses import replace

import pytest

from storage.ledger.database import HEAD
from tests.deploy.containers import missing_programs
from tests.fakes.command_line import CommandLine
from tests.fakes.next_migration import CONTRACTION, EXPANSION, NEXT
from tests.faults import folders, questions
from tests.faults.checks import settle, violations
from tests.faults.folders import Folder
from tests.faults.questions import Clients
from tests.faults.releases import USE, write_next_release
from tests.faults.work import Work

pytestmark = [pytest.mark.slow, pytest.mark.postgresql]

WAIT_S = 120
GATES = ("amber", "birch", "cedar", "dune")


class Upgrade:
    """Replaces processes of a running library of this release."""

    def __init__(self, topology, following):
        self.topology = topology
        self.previous, self.next = topology.containers, following

    def replace(self, release, *names):
        """Replace these processes, and wait until all are ready."""
        for service in self.topology.services:
            if service.name in names:
                service.replace(release)
        self.topology.wait()

    def log(self, name):
        return (self.topology.containers.logs / name).read_text(encoding="utf-8")

    def values(self, column, table):
        """The different values of a column."""
        server, database = self.topology.postgresql, self.topology.commits.database
        return {row[0] for row in server.execute(f"SELECT {column} FROM {table}", database)}


@pytest.fixture
def upgrade(tmp_path, monkeypatch):
    """A library of this release, and a next release, which adds a table and two columns."""
    from tests.faults.topology import topology
    from tests.postgresql.server import missing_programs as missing_postgresql

    if problem := missing_programs() or missing_postgresql():
        pytest.skip(problem)
    monkeypatch.setattr(questions, "CLIENTS", 2)  # the processes need time to start
    monkeypatch.setattr(questions, "_PAUSE_S", 1.0)
    monkeypatch.setattr(folders, "_LEAST", 90)
    monkeypatch.setattr(folders, "_MOST", 130)
    write_next_release(tmp_path / "next", EXPANSION, oldest=HEAD, use=USE)
    with topology(tmp_path, nodes=0) as running:
        yield Upgrade(running, replace(running.containers, program=tmp_path / "next"))


@pytest.mark.timeout(600)
def test_processes_are_replaced_one_by_one_while_people_ask_and_import(upgrade):
    topology = upgrade.topology
    folder = Folder(topology.documents / "handbook", GATES, seed=1)
    work = Work(topology, [folder])
    settle(topology, work)
    clients = Clients([one.url for one in topology.of("api")], topology.key, folder.codes)
    assert upgrade.values("version_num", "alembic_version") == {HEAD}
    with clients.asking(), work.changing():
        edit_all(folder)
        work.request()
        upgrade.replace(upgrade.next, "worker-1")
        assert upgrade.values("version_num", "alembic_version") == {NEXT}
        upgrade.replace(upgrade.previous, "worker-2", "api-1")
        for name in ("worker-2", "api-1", "api-2", "pages-1", "pages-2"):
            upgrade.replace(upgrade.next, name)
        upgrade.replace(upgrade.previous, "worker-1", "api-1", "pages-1")
    settle(topology, work)
    found = violations(topology, work, clients)
    # Several workers read and store the documents of such an import, so one is no zombie.
    assert [one for one in found if not one.startswith("zombies: ")] == []
    assert clients.failed() == []
    starts = [one.starts for one in topology.services]
    assert starts == [3, 2, 4, 2, 3, 3], "pages, APIs, and workers; none has crashed"
    for name in ("worker-1", "worker-2", "api-1", "pages-1"):
        assert "ledger of a newer version" in upgrade.log(name)
    assert upgrade.values("note", "imports") == {None, "next"}
    assert upgrade.values("origin", "conversations") == {"", "next"}


def edit_all(folder):
    for name in folder.texts:
        if name.startswith("note"):
            folder.edit(name)


@pytest.fixture
def library(tmp_path, postgresql_server):
    """Commands of this release over an empty database."""
    postgresql_server.execute("CREATE DATABASE rolling")
    url = postgresql_server.url("rolling")
    yield CommandLine(tmp_path / "data", tmp_path, {"FOOTNOTE_DATABASE_URL": url})
    postgresql_server.execute("DROP DATABASE rolling WITH (FORCE)")


def test_the_previous_release_refuses_a_ledger_from_which_the_next_one_removes_something(
    library, tmp_path
):
    library.run("api-key", "list")
    write_next_release(tmp_path / "next", CONTRACTION, oldest=NEXT)
    run_release(tmp_path / "next", library, "api-key", "list")
    for command in (["api-key", "list"], ["api"], ["worker"]):
        refused = library.run(*command, code=1).stderr
        assert f"was written by a newer Footnote (version {NEXT})" in refused
        assert "stop all processes of Footnote and start only the newer version" in refused
        assert "FOOTNOTE_DATABASE_URL" in refused


def run_release(folder, library, *command):
    """Run a command of the release in this folder over the same library."""
    result = subprocess.run(
        [sys.executable, "cli.py", *command],
        cwd=folder,
        env=library.environ(),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert result.returncode == 0, result.stderr
