"""The wall clock is set a year forward or a day back while the program works."""

from datetime import timedelta
from itertools import cycle

import pytest

from domain import LOCAL_USER, ImportState, TurnState
from services.events import TurnStarted
from tests.fakes import clock

QUESTION = "How many days of annual leave do new employees get?"
JUMPS = [timedelta(days=365), timedelta(days=-1), timedelta(0)]


@pytest.fixture
def jump(monkeypatch):
    """Function that sets the clock to another time at each call."""
    jumps = cycle(JUMPS)
    return lambda: clock.set_forward(monkeypatch, next(jumps))


def test_an_import_is_neither_interrupted_nor_repeated(build_services, handbook, jump):
    services, other = build_services(embed=True), build_services(embed=True)
    stages = set()

    def disturb(progress):
        stages.add(progress.stage)
        jump()
        assert not other.worker.run_next(), "another worker took the import over"

    report = services.directories.import_directory(LOCAL_USER, handbook, on_progress=disturb)
    assert report.state is ImportState.COMPLETED
    assert len(stages) > 3, "the clock jumped at every stage"
    [source] = services.sources.list(LOCAL_USER)
    [run] = services.queue.history(LOCAL_USER, source.source.id)
    assert run.state is ImportState.COMPLETED
    assert services.queue.current(LOCAL_USER) == []
    assert services.maintenance.check(LOCAL_USER).agrees


def test_answers_stay_whole_and_in_the_order_of_their_questions(imported, jump):
    services, conversation = imported(embed=True), None
    questions = [f"{QUESTION[:-1]} in year {n}?" for n in range(4)]
    for question in questions:
        for event in services.chat.stream(LOCAL_USER, question, conversation):
            jump()
            if isinstance(event, TurnStarted):
                conversation = event.turn.conversation_id
        services.maintenance.recover()
    turns = services.turns.list(LOCAL_USER, conversation)
    assert [turn.question for turn in turns] == questions
    assert {turn.state for turn in turns} == {TurnState.COMPLETE}
    assert [turn.parent_id for turn in turns] == [None, *(turn.id for turn in turns[:-1])]
