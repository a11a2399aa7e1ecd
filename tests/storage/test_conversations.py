import os
import socket
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from domain import (
    Citation,
    CitationState,
    Explanation,
    Move,
    Principal,
    ScorePart,
    Source,
    TurnState,
)
from errors import NotFoundError
from storage.conversations import Conversations
from storage.database import open_database

ANNA = Principal("anna", frozenset({"staff"}))
BERT = Principal("bert")


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


@pytest.fixture
def conversations(database):
    return Conversations(database)


WHY = Explanation(
    0.5,
    (ScorePart("dense", 1, 0.7, 0.5), ScorePart("bm25", None, None, 0.0)),
    ("연차",),
    Move(3.5, 4, 1),
    {"format": "md"},
)


def answered(turn):
    return replace(
        turn,
        state=TurnState.COMPLETE,
        standalone_question="연차는 며칠인가요?",
        answer="15일입니다. [1] [2]",
        model="extractive",
        sources=(
            Source(
                1, "p1", "d1", "휴가", "leave.md", "연차는 15일", "v1", 3, ("A", "B"), 0.5, why=WHY
            ),
            Source(2, "p2", "d1", "휴가", "leave.md", "연차는 20일", "v1", 3, ("A",), 0.4),
        ),
        citations=(
            Citation(1, CitationState.VERIFIED, "15일", "휴가", passage_id="p1", start=4, end=7),
            Citation(2, CitationState.NO_SUCH_SOURCE, ""),
        ),
        unsupported_sentences=1,
        timings_ms={"search": 1.5},
        usage={"input_tokens": 12},
    )


def test_a_finished_turn_reads_back_exactly_after_a_restart(tmp_path):
    before = Conversations(open_database(tmp_path))
    conversation = before.create(ANNA, "휴가")
    turn = answered(before.start_turn(ANNA, conversation.id, "며칠?"))
    before.finish_turn(ANNA, turn)

    assert Conversations(open_database(tmp_path)).turns(ANNA, conversation.id) == [turn]


def test_a_question_is_kept_before_there_is_an_answer(conversations):
    conversation = conversations.create(ANNA, "x")
    turn = conversations.start_turn(ANNA, conversation.id, "Why?")
    assert conversations.turns(ANNA, conversation.id) == [turn]
    assert turn.state is TurnState.RUNNING


def test_turns_come_oldest_first_and_conversations_with_the_latest_turn_first(conversations):
    first, second = (conversations.create(ANNA, title) for title in ("first", "second"))
    asked = [conversations.start_turn(ANNA, first.id, str(n)) for n in range(12)]

    assert conversations.turns(ANNA, first.id) == asked
    assert conversations.turns(ANNA, first.id, latest=3) == asked[-3:]
    assert [found.title for found in conversations.list(ANNA)] == ["first", "second"]
    conversations.start_turn(ANNA, second.id, "?")
    assert [found.title for found in conversations.list(ANNA, limit=1)] == ["second"]
    assert [found.title for found in conversations.list(ANNA, limit=5, offset=1)] == ["first"]


def test_a_conversation_is_seen_by_its_owner_alone(conversations):
    conversation = conversations.create(ANNA, "private")
    turn = conversations.start_turn(ANNA, conversation.id, "?")

    assert conversations.list(BERT) == []
    for call in (
        lambda: conversations.get(BERT, conversation.id),
        lambda: conversations.turns(BERT, conversation.id),
        lambda: conversations.start_turn(BERT, conversation.id, "mine now"),
        lambda: conversations.finish_turn(BERT, replace(turn, answer="changed")),
    ):
        with pytest.raises(NotFoundError, match=conversation.id):
            call()
    assert conversations.turns(ANNA, conversation.id) == [turn]


def test_a_turn_can_not_be_written_into_another_conversation(conversations):
    mine, theirs = conversations.create(BERT, "mine"), conversations.create(ANNA, "theirs")
    turn = conversations.start_turn(ANNA, theirs.id, "?")
    with pytest.raises(NotFoundError):
        conversations.finish_turn(BERT, replace(turn, conversation_id=mine.id))
    assert conversations.turns(BERT, mine.id) == []


def running_turn(database, conversations, process, age=timedelta()):
    conversation = conversations.create(ANNA, "x")
    turn = conversations.start_turn(ANNA, conversation.id, "?")
    with database.write() as session:
        session.execute(
            text("UPDATE turns SET process = :process, created_at = :at WHERE id = :id"),
            {
                "process": process,
                "at": (datetime.now(UTC) - age).replace(tzinfo=None).isoformat(" "),
                "id": turn.id,
            },
        )
    return lambda: conversations.turns(ANNA, conversation.id)[0]


def test_only_the_running_turns_of_dead_processes_become_incomplete(database, conversations):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = socket.gethostname()
    dead = running_turn(database, conversations, f"{host}/{ended.pid}")
    alive = running_turn(database, conversations, f"{host}/{os.getppid()}")
    elsewhere = running_turn(database, conversations, "other/1", timedelta(minutes=5))
    forgotten = running_turn(database, conversations, "other/1", timedelta(hours=2))

    assert conversations.interrupt_running() == 2
    assert dead().state is forgotten().state is TurnState.INCOMPLETE
    assert "ask again" in dead().error
    assert alive().state is elsewhere().state is TurnState.RUNNING
