"""Values in the ledger's columns, which are the same on each database."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import DocumentFilter, DocumentOrder, Principal
from domain.errors import StorageError
from domain.language.sanitization import sanitize
from storage.ledger.columns import json_text
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.document_list_store import DocumentList, Titles
from storage.ledger.ledger_tables import DocumentTextRow
from storage.ledger.passage_finder import Reading
from storage.ledger.source_store import Sources
from tests.fakes.library import DictLoader, Library
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA = Principal("anna")
ODD = "a\0b\ud800c"
STORED = "a\ufffdb\ufffdc"


def test_characters_that_postgresql_refuses_are_replaced_one_by_one(tmp_path):
    conversations = Conversations(open_ledger(tmp_path))
    turn = conversations.start_first_turn(ANNA, ODD, f"😀 {ODD} 휴가")
    stored = conversations.turn(ANNA, turn.conversation_id, turn.id).question
    assert stored == f"😀 {STORED} 휴가"
    assert len(stored) == len(turn.question)
    assert conversations.get(ANNA, turn.conversation_id).title == STORED
    assert ConversationList(open_ledger(tmp_path)).count(ANNA, [ODD]) == 1


def test_they_are_replaced_in_json_and_in_conditions(tmp_path):
    sources = Sources(open_ledger(tmp_path))
    options = {"conversation_id": "c", ODD: [ODD, {"text": f"\\{ODD}\\u0000 😀"}]}
    source = sources.ensure("directory", "/docs", name=ODD, options=options)
    expected = {"conversation_id": "c", STORED: [STORED, {"text": f"\\{STORED}\\u0000 😀"}]}
    assert sources.get(source.id).options == expected
    assert sources.get(source.id).name == STORED
    assert [one.id for one in sources.of_lost_conversations()] == [source.id]


def test_spans_in_a_text_with_such_characters_remain_right(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"a.txt": "one two three"}))
    [document] = library.documents.list()
    with library.database.write() as session:
        session.get(DocumentTextRow, document.id).text = "one\0two\0three"
    reading = Reading(library.database)
    assert reading.cut(document.id, 8, 13) == "three"
    assert reading.cut(document.id, 2, 6) == "e\ufffdtw"
    assert reading.cut(document.id, 99, 100) == ""


NO_PAIRS = st.text(st.characters()).filter(
    lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text)
)


@given(NO_PAIRS)
def test_json_contains_exactly_the_sanitized_text(ledger_kind, text):
    assert json.loads(json_text([text, {text: 1}])) == [sanitize(text), {sanitize(text): 1}]


def test_a_pair_of_surrogates_in_json_becomes_its_character(ledger_kind):
    assert json.loads(json_text("\ud83d\ude00")) == "😀"


def test_texts_are_sorted_by_code_points(tmp_path):
    names = ["b", "a", "Z", "é", "É", "_", "휴가", "休暇", "a b", "ab", "😀", "10", "9"]
    library = Library(tmp_path)
    library.load(DictLoader({f"{name}.txt": "text" for name in names}))
    expected = sorted(f"{name}.txt" for name in names)
    assert [one.key for one in library.documents.list()] == expected
    assert [one.title for one in Titles(library.database).all()] == expected
    page = DocumentList(library.database).page(DocumentFilter(), DocumentOrder.TITLE, limit=99)
    assert [one.title for one in page] == sorted(expected, key=lambda one: one.replace("Z", "z"))


def test_names_that_are_too_long_for_an_index_of_postgresql_are_reported(tmp_path, ledger_kind):
    key = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=6000))
    sources = Sources(open_ledger(tmp_path))
    if ledger_kind == "sqlite":
        assert sources.ensure("directory", key, name="docs").location == key
    else:
        with pytest.raises(StorageError, match="longer than PostgreSQL permits"):
            sources.ensure("directory", key, name="docs")
