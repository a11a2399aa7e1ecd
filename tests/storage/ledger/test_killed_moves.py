"""A process that moves a ledger is killed at each phase of the move, and the next one resumes."""

import pytest
from sqlalchemy import inspect, update

from domain.errors import StorageError
from storage.ledger.database import open_database
from storage.ledger.engines import writer_of
from storage.ledger.ledger_tables import SourceRow
from tests.fakes.full_ledger import create_full_ledger, engine_for, rows_of
from tests.fakes.moving import KILLED, Point, mover

ROWS = 12

_MOVE, _COPY = "storage.ledger.ledger_move:", "storage.ledger.ledger_copy:"
BEFORE_THE_MARK = Point(_MOVE + "refuse_writes", is_end=True)  # not committed
COPYING = [
    Point(_MOVE + "copy_rows"),  # the mark is committed
    Point(_COPY + "permitted"),  # no row is written
    Point(_COPY + "_parameters"),  # the mark permits changes, but is not committed
    Point(_COPY + "permitted", 2),  # a batch is committed
    Point(_COPY + "_copy_table", 20),  # between two tables
    Point(_MOVE + "copy_rows", 2),
    Point(_MOVE + "LedgerMove.finish"),
]
AT_THE_END = [
    Point(_MOVE + "copy_rows"),  # writers wait
    Point(_COPY + "permitted"),
    Point(_MOVE + "copy_rows", 2),  # copied, not compared
    Point(_MOVE + "LedgerMove._prepare_use"),  # compared
    Point(_MOVE + "LedgerMove._prepare_use", is_end=True),
    Point(_MOVE + "set_mark", 3),  # the mark of the old ledger
    Point(_MOVE + "refuse_writes", 2, is_end=True),  # not committed
]
AFTER_THE_SWITCH = [
    Point(_MOVE + "release"),
    Point(_MOVE + "release", is_end=True),  # not committed
]
"""The next call only ends the move."""


def is_blank(folder, url):
    engine = engine_for(folder, url)
    try:
        return not inspect(engine).get_table_names()
    finally:
        engine.dispose()


def opens(folder, url):
    try:
        open_database(folder, url).close()
    except StorageError:
        return False
    return True


def is_refused(folder, url):
    return not is_blank(folder, url) and not opens(folder, url)


def change(folder, url):
    """Change all rows of a table, which are several batches, while the ledger is being moved."""
    engine = engine_for(folder, url)
    with writer_of(engine).begin() as connection:
        connection.execute(update(SourceRow).values(name=SourceRow.name + "."))
    engine.dispose()


@pytest.fixture(params=["to_a_file", pytest.param("to_a_server", marks=pytest.mark.postgresql)])
def new(request, tmp_path):
    if request.param == "to_a_file":
        yield f"sqlite:///{tmp_path / 'new.db'}"
        return
    running = request.getfixturevalue("postgresql_server")
    running.execute("CREATE DATABASE killed")
    yield running.url("killed")
    running.execute("DROP DATABASE killed WITH (FORCE)")


@pytest.fixture
def moves(tmp_path):
    with mover(tmp_path) as moves:
        yield moves


def different(one, other):
    """The tables whose rows differ."""
    return {table for table in one if one[table] != other[table]}


@pytest.mark.slow
class TestAMoveThatIsKilled:
    def test_at_each_phase_is_resumed_there_and_back(self, tmp_path, new, moves):
        old = f"sqlite:///{tmp_path / 'old.db'}"
        create_full_ledger(tmp_path, old, ROWS)
        self.kill(moves, tmp_path, old, new, BEFORE_THE_MARK, is_blank)
        self.kill_and_resume(moves, tmp_path, old, new)
        # The other ledger still has the mark of the first move.
        self.kill(moves, tmp_path, new, old, BEFORE_THE_MARK, is_refused)
        self.kill_and_resume(moves, tmp_path, new, old)

    def kill_and_resume(self, moves, folder, old, new):
        before = rows_of(folder, old)
        for point in COPYING:
            change(folder, old)
            self.kill(moves, folder, old, new, point, is_refused)
        for point in AT_THE_END:
            change(folder, old)
            self.kill(moves, folder, old, new, point, is_refused, copies=0)
        changed = rows_of(folder, old)
        assert different(before, changed) == {SourceRow.__tablename__}
        assert {len(rows) for rows in changed.values()} == {ROWS}
        for point in AFTER_THE_SWITCH:
            assert moves.move_ledger(old, new, point) == KILLED, point
            assert is_refused(folder, old)
            assert is_refused(folder, new)
        assert moves.move_ledger(old, new) == 0
        assert is_refused(folder, old)
        assert opens(folder, new)
        assert rows_of(folder, new) == rows_of(folder, old) == changed

    def kill(self, moves, folder, old, new, point, state, **options):
        """The old ledger must stay in use, and the new one must be in this state."""
        assert moves.move_ledger(old, new, point, **options) == KILLED, point
        assert opens(folder, old), point
        assert state(folder, new), point
