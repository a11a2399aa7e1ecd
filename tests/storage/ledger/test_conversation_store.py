import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

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
from domain.errors import NotFoundError
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.ledger_tables import ConversationRow, TurnRow
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA = Principal("anna", frozenset({"staff"}))
BERT = Principal("bert")


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


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


def with_answer(turn):
    return replace(
        turn,
        state=TurnState.COMPLETE,
        standalone_question="연차는 며칠인가요?",
        answer="15일입니다. [1] [2]",
        model="extractive",
        sources=(
            RetrievedPassage(
                1,
                "p1",
                "d1",
                "휴가",
                "leave.md",
                "연차는 15일",
                "v1",
                3,
                ("A", "B"),
                0.5,
                why=WHY,
                format="md",
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


def test_finished_turns_are_unchanged_after_a_restart(tmp_path):
    before = Conversations(open_ledger(tmp_path))
    conversation = before.create(ANNA, "휴가")
    turn = with_answer(before.start_turn(ANNA, conversation.id, "며칠?"))
    before.finish_turn(ANNA, turn)

    assert Conversations(open_ledger(tmp_path)).turns(ANNA, conversation.id) == [turn]


def test_turns_of_earlier_versions_have_neither_explanations_nor_formats(database, conversations):
    conversation = conversations.create(ANNA, "휴가")
    turn = with_answer(conversations.start_turn(ANNA, conversation.id, "며칠?"))
    conversations.finish_turn(ANNA, turn)
    later = {"why", "hits", "format"}
    with database.write() as session:
        row = session.get(TurnRow, turn.id)
        row.sources = [
            {name: value for name, value in source.items() if name not in later}
            for source in row.sources
        ]
    [stored] = conversations.turns(ANNA, conversation.id)
    assert stored.sources == tuple(replace(one, why=None, format="") for one in turn.sources)


def test_questions_are_stored_before_their_answers(conversations):
    conversation = conversations.create(ANNA, "x")
    turn = conversations.start_turn(ANNA, conversation.id, "Why?")
    assert conversations.turns(ANNA, conversation.id) == [turn]
    assert turn.state is TurnState.RUNNING


def titles_of(conversation_list, **page):
    return [conversation.title for conversation in conversation_list.page(ANNA, **page)]


def test_turns_are_listed_from_the_oldest_and_conversations_from_the_latest(
    database, conversations
):
    titles = partial(titles_of, ConversationList(database))
    first, second = (conversations.create(ANNA, title) for title in ("first", "second"))
    turns = [conversations.start_turn(ANNA, first.id, str(n)) for n in range(12)]

    assert conversations.turns(ANNA, first.id) == turns
    assert conversations.turns(ANNA, first.id, latest=3) == turns[-3:]
    assert titles(limit=5) == ["first", "second"]
    conversations.start_turn(ANNA, second.id, "?")
    assert titles(limit=1) == ["second"]
    assert titles(limit=5, offset=1) == ["first"]


def test_only_the_owner_can_access_a_conversation(database, conversations):
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


def test_a_conversation_is_created_only_together_with_its_first_turn(database, conversations):
    remembered, search = SearchChoice(k=3), SearchChoice(k=4)
    turn = conversations.start_first_turn(ANNA, "Why", "Why?", remembered=remembered, search=search)
    conversation = conversations.get(ANNA, turn.conversation_id)
    assert (conversation.title, conversation.search) == ("Why", remembered)
    assert (conversation.shown_turn_id, conversation.updated_at) == (turn.id, turn.created_at)
    assert (turn.question, turn.parent_id, turn.search) == ("Why?", None, search)
    assert conversations.turns(ANNA, conversation.id) == [turn]
    with pytest.raises(NotFoundError, match="never"):
        conversations.start_first_turn(ANNA, "Why", "Why?", parent_id="never")
    assert ConversationList(database).page(ANNA, limit=5) == [conversation]


def test_a_turn_cannot_be_stored_in_another_conversation(conversations):
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


def test_only_running_turns_of_dead_processes_become_incomplete(database, conversations):
    dead_process = subprocess.Popen([sys.executable, "-c", ""])
    dead_process.wait()
    host = socket.gethostname()
    dead = running_turn(database, conversations, f"{host}/{dead_process.pid}")
    alive = running_turn(database, conversations, f"{host}/{os.getppid()}")
    elsewhere = running_turn(database, conversations, "other/1", timedelta(minutes=5))
    forgotten = running_turn(database, conversations, "other/1", timedelta(hours=2))

    assert conversations.interrupt_running() == 2
    assert dead().state is forgotten().state is TurnState.INCOMPLETE
    assert "ask again" in dead().error
    assert alive().state is elsewhere().state is TurnState.RUNNING


def test_a_new_version_of_a_question_is_shown_and_the_old_branch_stays(conversations):
    conversation_id = conversations.create(ANNA, "x").id
    first, second = (conversations.start_turn(ANNA, conversation_id, question) for question in "12")
    again = conversations.start_turn(ANNA, conversation_id, "1 again", parent_id=None)
    assert conversations.turns(ANNA, conversation_id) == [again]
    assert conversations.versions(ANNA, conversation_id)[first.id] == (first.id, again.id)
    conversations.show(ANNA, conversation_id, first.id)
    assert conversations.turns(ANNA, conversation_id) == [first, second]
    assert conversations.turn(ANNA, conversation_id, again.id) == again


def test_new_turns_continue_the_branch_that_is_shown(conversations):
    conversation_id = conversations.create(ANNA, "x").id
    first = conversations.start_turn(ANNA, conversation_id, "1")
    conversations.start_turn(ANNA, conversation_id, "2")
    other = conversations.start_turn(ANNA, conversation_id, "2 again", parent_id=first.id)
    after = conversations.start_turn(ANNA, conversation_id, "3")
    assert after.parent_id == other.id
    assert conversations.turns(ANNA, conversation_id) == [first, other, after]
    assert conversations.turns(ANNA, conversation_id, until=other.id) == [first, other]
    assert conversations.turns(ANNA, conversation_id, until=None) == []


def test_turns_of_other_conversations_are_rejected(conversations):
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


def test_search_settings_are_stored_with_conversations_and_turns(conversations):
    search = SearchChoice(Scope(collections=("휴가",), since="2026-01-01"), SearchMode.BM25, 7, 0.4)
    conversation = conversations.create(ANNA, "x", search)
    turn = conversations.start_turn(ANNA, conversation.id, "?", search=search)
    assert conversations.get(ANNA, conversation.id).search == search
    assert conversations.turns(ANNA, conversation.id)[0].search == turn.search == search


def test_concurrent_questions_are_all_stored(tmp_path):
    open_ledger(tmp_path).close()
    conversation_id = Conversations(open_ledger(tmp_path)).create(ANNA, "x").id

    def ask(n):
        own = Conversations(open_ledger(tmp_path))  # like another process
        for turn in range(5):
            own.finish_turn(ANNA, with_answer(own.start_turn(ANNA, conversation_id, f"{n}.{turn}")))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(4)))
    turns = Conversations(open_ledger(tmp_path)).turns(ANNA, conversation_id)
    assert sorted(turn.question for turn in turns) == [
        f"{n}.{m}" for n in range(4) for m in range(5)
    ]
    assert all(turn.answer for turn in turns)


def test_an_answer_that_finishes_after_the_deletion_is_stored(database, conversations):
    conversation_id = conversations.create(ANNA, "x").id
    turn = conversations.start_turn(ANNA, conversation_id, "?")
    set_deleted(database, conversation_id, datetime.now(UTC))
    assert ConversationList(database).page(ANNA, limit=5) == []
    with pytest.raises(NotFoundError):
        conversations.turns(ANNA, conversation_id)
    conversations.finish_turn(ANNA, with_answer(turn))
    set_deleted(database, conversation_id, None)
    assert conversations.turns(ANNA, conversation_id) == [with_answer(turn)]


def set_deleted(database, conversation_id, moment):
    with database.write() as session:
        session.get(ConversationRow, conversation_id).deleted_at = moment
