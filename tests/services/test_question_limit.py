"""The limit of questions per person and minute, over all processes."""

from datetime import timedelta

import pytest

from domain import LOCAL_USER, Principal
from domain.errors import LimitError
from services.question_limit import QuestionLimit
from storage.ledger.database import open_database
from storage.ledger.usage_store import RecentQuestions
from tests.fakes import clock

ANNA, BERT = Principal("anna"), Principal("bert")


@pytest.fixture
def limit(tmp_path):
    return QuestionLimit(RecentQuestions(open_database(tmp_path)), 2)


def test_the_question_beyond_the_limit_is_refused_with_the_time_of_the_next(limit):
    limit.count(ANNA)
    limit.count(ANNA)
    with pytest.raises(LimitError) as refusal:
        limit.count(ANNA)
    assert 55 < refusal.value.retry_after_s <= 60
    assert refusal.value.retryable
    assert "2 questions a minute (FOOTNOTE_QUESTIONS_PER_MINUTE)" in str(refusal.value)
    assert "in 60 seconds" in str(refusal.value)


def test_each_person_has_their_own_limit(limit):
    for _ in range(2):
        limit.count(ANNA)
        limit.count(BERT)
    with pytest.raises(LimitError):
        limit.count(BERT)


def test_a_question_is_possible_when_the_oldest_is_a_minute_old(limit, monkeypatch):
    limit.count(ANNA)
    clock.set_forward(monkeypatch, timedelta(seconds=40))
    limit.count(ANNA)
    with pytest.raises(LimitError) as refusal:
        limit.count(ANNA)
    assert 15 < refusal.value.retry_after_s <= 20
    clock.set_forward(monkeypatch, timedelta(seconds=61))
    limit.count(ANNA)
    with pytest.raises(LimitError):
        limit.count(ANNA)


def test_refused_questions_do_not_count(limit, monkeypatch):
    for _ in range(2):
        limit.count(ANNA)
    for _ in range(5):
        with pytest.raises(LimitError):
            limit.count(ANNA)
    clock.set_forward(monkeypatch, timedelta(seconds=61))
    limit.count(ANNA)
    limit.count(ANNA)


def test_questions_in_other_processes_count(limit, tmp_path):
    other = QuestionLimit(RecentQuestions(open_database(tmp_path)), 2)
    limit.count(ANNA)
    other.count(ANNA)
    for one in (limit, other):
        with pytest.raises(LimitError):
            one.count(ANNA)


def test_questions_at_a_time_that_was_ahead_are_forgotten(limit, monkeypatch):
    with monkeypatch.context() as ahead:
        clock.set_forward(ahead, timedelta(days=1))
        limit.count(ANNA)
        limit.count(ANNA)
    limit.count(ANNA)


def test_without_a_number_and_for_the_operator_there_is_no_limit(limit, tmp_path):
    unlimited = QuestionLimit(RecentQuestions(open_database(tmp_path)), None)
    for _ in range(3):
        unlimited.count(ANNA)
        limit.count(LOCAL_USER)
