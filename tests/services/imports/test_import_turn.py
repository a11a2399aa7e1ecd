"""Imports, dry runs, and removals that let others run when their turn is over."""

from dataclasses import dataclass, field

import pytest

from domain import ImportKind, ImportState, Outcome
from services.imports import import_turn
from services.imports.import_run import ImportTask
from services.imports.import_turn import ImportTurn
from services.imports.leased_run import LeasedRun
from services.source_removal import Removals
from storage.ledger.import_queue_store import ImportRuns
from tests.fakes.library import DictLoader, Library


@dataclass
class Clock:
    now: float = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(import_turn.time, "monotonic", clock.monotonic)
    return clock


@dataclass
class Others:
    """Whether others wait, and how often that was read."""

    wait: bool = True
    reads: list = field(default_factory=list)

    def __call__(self):
        self.reads.append(self.wait)
        return self.wait


def turn(others, clock, seconds=30):
    return ImportTurn(others, seconds, clock.now)


def test_a_turn_is_over_after_its_time_if_others_wait(clock):
    one = turn(Others(), clock)
    clock.now = 2
    one.end_listing()
    assert [one.is_over() for clock.now in (3, 29, 30)] == [False, False, True]


def test_a_turn_goes_on_while_nobody_waits(clock):
    others = Others(wait=False)
    one = turn(others, clock)
    one.end_listing()
    assert [one.is_over() for clock.now in (10, 100)] == [False, False]
    others.wait = True
    assert one.is_over()


def test_the_time_after_a_long_listing_is_as_long_as_the_listing(clock):
    one = turn(Others(), clock)
    assert [one.is_over() for clock.now in (50, 100)] == [False, False]
    one.end_listing()
    assert [one.is_over() for clock.now in (150, 199, 200)] == [False, False, True]


def test_the_queue_is_not_read_before_the_time_is_over(clock):
    others = Others()
    one = turn(others, clock)
    one.end_listing()
    clock.now = 29
    one.is_over()
    assert others.reads == []


class ShortestTurn(ImportTurn):
    """A turn that is over at the first opportunity."""

    def is_over(self):
        return True


class Turns:
    """A library whose imports have a turn of one document."""

    def __init__(self, data_dir, loader):
        self.library = Library(data_dir)
        self.loader = loader
        self.runs = ImportRuns(self.library.database)
        self.leases = self.library.leases
        self.states = []

    def enqueue(self, kind=ImportKind.IMPORT):
        return self.runs.enqueue(self.library.source.id, "anna", kind, {}).id

    def work(self, run, on_progress, cancelled):
        options = {"turn": ShortestTurn(), "cancelled": cancelled}
        source, imports = self.library.source, self.library.imports
        if run.kind is ImportKind.REMOVAL:
            removals = Removals(self.library.database, self.library.stores, Kinds())
            return removals.run(source, import_id=run.id, worker="w", **options)
        perform = imports.dry_run if run.kind is ImportKind.DRY_RUN else imports.perform
        return perform(
            ImportTask(run.id, "w", source, self.loader, on_progress=on_progress, **options)
        )

    def run_next(self):
        run = self.leases.claim("w")
        leased = LeasedRun(
            self.leases, run.id, "w", default_state=ImportState.INTERRUPTED, kind=run.kind
        )
        report = leased.run(lambda on_progress, stops: self.work(run, on_progress, stops))
        if report is None:
            self.states.append(self.runs.get(run.id).state)
        return report


class Kinds:
    """The kinds of sources, none of which has files of its own."""

    def get(self, _kind):
        return self

    def forget(self, _source):
        pass


TEXTS = {f"{n}.txt": f"document {n}" for n in range(4)}


@pytest.fixture
def turns(tmp_path):
    return Turns(tmp_path / "data", DictLoader(dict(TEXTS)))


def test_an_import_gives_way_after_a_document_and_keeps_it(turns):
    import_id = turns.enqueue()
    assert turns.run_next() is None
    assert turns.states == [ImportState.QUEUED]
    assert turns.library.texts() == {"0.txt": "document 0"}
    [item] = turns.library.import_store.get(import_id).items
    assert (item.key, item.outcome) == ("0.txt", Outcome.NEW)


def test_an_import_in_several_turns_reads_each_document_once(turns):
    import_id = turns.enqueue()
    reports = [turns.run_next() for _ in range(4)]
    assert [report is None for report in reports] == [True, True, True, False]
    assert turns.loader.reads == list(TEXTS)
    assert turns.library.texts() == TEXTS
    run, report = turns.runs.get(import_id), turns.library.import_store.get(import_id)
    assert run.state is ImportState.COMPLETED
    assert sorted(item.key for item in report.items) == list(TEXTS)


def test_documents_that_disappear_between_two_turns_are_removed_in_several_turns(turns):
    turns.library.load(DictLoader(TEXTS | {"x.txt": "x", "y.txt": "y"}))
    turns.loader.texts = dict(TEXTS)
    turns.enqueue()
    while turns.run_next() is None:
        pass
    assert turns.library.texts() == TEXTS


def test_a_dry_run_in_several_turns_reads_each_document_once(turns):
    turns.library.load(DictLoader({"0.txt": "document 0", "9.txt": "gone"}))
    turns.enqueue(ImportKind.DRY_RUN)
    while (report := turns.run_next()) is None:
        pass
    assert turns.states == [ImportState.QUEUED] * 3
    assert turns.loader.reads == ["1.txt", "2.txt", "3.txt"]
    outcomes = {item.key: item.outcome for item in report.items}
    assert outcomes["0.txt"] is Outcome.UNCHANGED
    assert [outcomes[key] for key in turns.loader.reads] == [Outcome.NEW] * 3
    assert outcomes["9.txt"] is Outcome.REMOVED
    assert list(turns.library.texts()) == ["0.txt", "9.txt"]


def test_a_removal_in_several_turns_removes_everything(turns, monkeypatch):
    monkeypatch.setattr("services.source_removal._GROUP", 1)
    turns.library.load(turns.loader)
    turns.enqueue(ImportKind.REMOVAL)
    left = []
    while turns.run_next() is None:
        left.append(len(turns.library.texts()))
    assert left == [3, 2, 1]
    assert turns.library.sources.find("directory", "/docs") is None
