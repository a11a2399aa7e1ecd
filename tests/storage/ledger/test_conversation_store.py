import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
    RetrievedPassage,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    TurnState,
)
from errors import NotFoundError
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import open_database
from storage.ledger.ledger_tables import ConversationRow

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
            RetrievedPassage(
                1, "p1", "d1", "휴가", "leave.md", "연차는 15일", "v1", 3, ("A", "B"), 0.5, why=WHY
            ),
            RetrievedPassage(
                2, "p2", "d1", "휴가", "leave.md", "연차는 20일", "v1", 3, ("A",), 0.4
            ),
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


def test_turns_come_oldest_first_and_conversations_with_the_latest_turn_first(
    database, conversations
):
    listed = ConversationList(database)
    first, second = (conversations.create(ANNA, title) for title in ("first", "second"))
    asked = [conversations.start_turn(ANNA, first.id, str(n)) for n in range(12)]

    assert conversations.turns(ANNA, first.id) == asked
    assert conversations.turns(ANNA, first.id, latest=3) == asked[-3:]
    assert [found.title for found in listed.page(ANNA, limit=5)] == ["first", "second"]
    conversations.start_turn(ANNA, second.id, "?")
    assert [found.title for found in listed.page(ANNA, limit=1)] == ["second"]
    assert [found.title for found in listed.page(ANNA, limit=5, offset=1)] == ["first"]


def test_a_conversation_is_seen_by_its_owner_alone(database, conversations):
    conversation = conversations.create(ANNA, "private")
    turn = conversations.start_turn(ANNA, conversation.id, "?")

    assert ConversationList(database).page(BERT, limit=5) == []
    for call in (
        lambda: conversations.get(BERT, conversation.id),
        lambda: conversations.turns(BERT, conversation.id),
        lambda: conversations.start_turn(BERT, conversation.id, "mine now"),
        lambda: conversations.finish_turn(BERT, replace(turn, answer="changed")),
        lambda: conversations.turn(BERT, conversation.id, turn.id),
        lambda: conversations.versions(BERT, conversation.id),
        lambda: conversations.show(BERT, conversation.id, turn.id),
    ):
        with pytest.raises(NotFoundError, match=conversation.id):
            call()
    assert conversations.turns(ANNA, conversation.id) == [turn]


def test_a_conversation_begins_with_its_first_turn_or_not_at_all(database, conversations):
    remembered, search = SearchChoice(k=3), SearchChoice(k=4)
    turn = conversations.start_first_turn(ANNA, "Why", "Why?", remembered=remembered, search=search)
    begun = conversations.get(ANNA, turn.conversation_id)
    assert (begun.title, begun.search) == ("Why", remembered)
    assert (begun.shown_turn_id, begun.updated_at) == (turn.id, turn.created_at)
    assert (turn.question, turn.parent_id, turn.search) == ("Why?", None, search)
    assert conversations.turns(ANNA, begun.id) == [turn]
    with pytest.raises(NotFoundError, match="never"):
        conversations.start_first_turn(ANNA, "Why", "Why?", parent_id="never")
    assert ConversationList(database).page(ANNA, limit=5) == [begun]


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


def test_asking_again_shows_the_new_branch_and_the_other_one_is_a_step_away(conversations):
    talk = conversations.create(ANNA, "x").id
    first, second = (conversations.start_turn(ANNA, talk, question) for question in "12")
    again = conversations.start_turn(ANNA, talk, "1 again", parent_id=None)
    assert conversations.turns(ANNA, talk) == [again]
    assert conversations.versions(ANNA, talk)[first.id] == (first.id, again.id)
    conversations.show(ANNA, talk, first.id)
    assert conversations.turns(ANNA, talk) == [first, second]
    assert conversations.turn(ANNA, talk, again.id) == again


def test_what_comes_next_follows_the_branch_that_is_shown(conversations):
    talk = conversations.create(ANNA, "x").id
    first = conversations.start_turn(ANNA, talk, "1")
    conversations.start_turn(ANNA, talk, "2")
    other = conversations.start_turn(ANNA, talk, "2 again", parent_id=first.id)
    after = conversations.start_turn(ANNA, talk, "3")
    assert after.parent_id == other.id
    assert conversations.turns(ANNA, talk) == [first, other, after]
    assert conversations.turns(ANNA, talk, until=other.id) == [first, other]
    assert conversations.turns(ANNA, talk, until=None) == []


def test_a_turn_of_another_conversation_is_no_parent_and_not_shown(conversations):
    mine, other = (conversations.create(ANNA, title).id for title in ("mine", "other"))
    foreign = conversations.start_turn(ANNA, other, "?")
    for call in (
        lambda: conversations.start_turn(ANNA, mine, "?", parent_id=foreign.id),
        lambda: conversations.show(ANNA, mine, foreign.id),
        lambda: conversations.turn(ANNA, mine, foreign.id),
        lambda: conversations.turns(ANNA, mine, until="never"),
    ):
        with pytest.raises(NotFoundError, match="no turn"):
            call()
    assert conversations.turns(ANNA, mine) == []


def test_how_to_search_is_remembered_and_what_was_searched_is_kept(conversations):
    search = SearchChoice(Scope(collections=("휴가",), since="2026-01-01"), SearchMode.BM25, 7, 0.4)
    talk = conversations.create(ANNA, "x", search)
    turn = conversations.start_turn(ANNA, talk.id, "?", search=search)
    assert conversations.get(ANNA, talk.id).search == search
    assert conversations.turns(ANNA, talk.id)[0].search == turn.search == search


def test_no_turn_is_lost_where_many_ask_at_once(tmp_path):
    open_database(tmp_path).close()
    talk = Conversations(open_database(tmp_path)).create(ANNA, "x").id

    def ask(n):
        own = Conversations(open_database(tmp_path))  # as another process has it
        for turn in range(5):
            own.finish_turn(ANNA, answered(own.start_turn(ANNA, talk, f"{n}.{turn}")))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(4)))
    turns = Conversations(open_database(tmp_path)).turns(ANNA, talk)
    assert sorted(turn.question for turn in turns) == [
        f"{n}.{m}" for n in range(4) for m in range(5)
    ]
    assert all(turn.answer for turn in turns)


def test_a_deleted_conversation_is_found_no_more_but_keeps_the_answer_under_way(
    database, conversations
):
    talk = conversations.create(ANNA, "x").id
    turn = conversations.start_turn(ANNA, talk, "?")
    set_deleted(database, talk, datetime.now(UTC))
    assert ConversationList(database).page(ANNA, limit=5) == []
    with pytest.raises(NotFoundError):
        conversations.turns(ANNA, talk)
    conversations.finish_turn(ANNA, answered(turn))
    set_deleted(database, talk, None)
    assert conversations.turns(ANNA, talk) == [answered(turn)]


def set_deleted(database, conversation_id, moment):
    with database.write() as session:
        session.get(ConversationRow, conversation_id).deleted_at = moment
