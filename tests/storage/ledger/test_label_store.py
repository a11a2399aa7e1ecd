from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain import Principal
from storage.ledger.feedback_store import Label, LabelOrigin, Labels
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA, BERT = Principal("anna"), Principal("bert")
LABEL = Label(
    question="연차는 며칠?",
    passage_id="p1",
    document_id="d1",
    start=3,
    end=9,
    text="연차는 15일",
    grade=1,
    origin=LabelOrigin.LAB,
    created_at=datetime(2026, 11, 21, 10, tzinfo=UTC),
)


@pytest.fixture
def labels(tmp_path):
    return Labels(open_ledger(tmp_path))


def test_labels_are_unchanged_after_a_restart(tmp_path):
    Labels(open_ledger(tmp_path)).put(ANNA, [LABEL])
    assert list(Labels(open_ledger(tmp_path)).list(ANNA)) == [LABEL]


def test_a_label_replaces_only_that_of_the_same_question_and_passage(labels):
    others = [replace(LABEL, question="other?"), replace(LABEL, passage_id="p2")]
    labels.put(ANNA, [LABEL, *others])
    wrong = replace(LABEL, grade=0, origin=LabelOrigin.CHAT)
    labels.put(ANNA, [wrong])
    assert sorted(labels.list(ANNA), key=repr) == sorted([wrong, *others], key=repr)


def test_of_two_labels_for_the_same_passage_in_one_call_the_last_is_stored(labels):
    labels.put(ANNA, [LABEL, replace(LABEL, grade=0)])
    assert [label.grade for label in labels.list(ANNA)] == [0]


def test_more_labels_than_sql_parameters_can_be_stored(labels):
    many = [replace(LABEL, passage_id=str(n)) for n in range(4000)]
    labels.put(ANNA, many)
    labels.put(ANNA, many)
    assert len(list(labels.list(ANNA))) == 4000


def test_only_the_owner_can_see_and_change_labels(labels):
    labels.put(ANNA, [LABEL])
    labels.put(BERT, [replace(LABEL, grade=0)])
    labels.remove(BERT, LABEL.question, ["p1"])
    assert list(labels.list(BERT)) == []
    assert labels.for_passages(BERT, LABEL.question, ["p1"]) == []
    assert labels.for_passages(ANNA, LABEL.question, ["p1", "p2"]) == [LABEL]


def test_labels_are_listed_from_oldest_to_newest(labels):
    newer = replace(LABEL, passage_id="p0", created_at=datetime(2026, 11, 22, tzinfo=UTC))
    labels.put(ANNA, [newer, LABEL])
    assert list(labels.list(ANNA)) == [LABEL, newer]
