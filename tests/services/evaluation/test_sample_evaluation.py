"""The sample questions are answered by a real library and graded."""

import pytest

from domain import LOCAL_USER
from services.evaluation.sample_evaluation import (
    Grade,
    Kind,
    SampleEvaluation,
    SampleQuestion,
    figures,
    quotes_of,
)


def question(text, kind=Kind.FACT, *, history=(), documents=(), needles=(), split="tune"):
    return SampleQuestion("en-1", kind, split, history, text, documents, needles)


@pytest.fixture(scope="module")
def questions():
    """Questions about the handbook, which the tests import."""
    return [
        question("How many days of annual leave do new employees get?", documents=("leave.md",),
                 needles=(("25 days",),)),
        question("Which gateway do I choose in WireGuard?", documents=("vpn.md",),
                 needles=(("Yokohama",),)),
        question("Who won the regatta of 1958?", Kind.UNANSWERABLE),
        question("And when do unused days lapse?", Kind.FOLLOW_UP, documents=("leave.md",),
                 history=("How many days of annual leave do new employees get?",),
                 needles=(("31 March",),)),
    ]  # fmt: skip


def test_answers_are_graded_by_their_quotes(imported, questions):
    services = imported()
    evaluation = SampleEvaluation(services.chat)
    progress = []
    graded = list(evaluation.grades(LOCAL_USER, questions, progress.append))
    assert [one.right for one in graded] == [True, False, True, True]
    assert [one.question for one in graded] == questions
    assert [(one.done, one.total) for one in progress] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_quote_names_the_file_that_contains_it(imported):
    services = imported()
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave do new employees get?")
    first, *_ = quotes_of(turn)
    assert (first.document, "25 days" in first.text) == ("leave.md", True)


def test_figures_are_shares_of_right_answers_by_split_language_and_kind():
    right = Grade(question("a"), (), right=True)
    wrong = Grade(question("b"), (), right=False)
    elsewhere = Grade(question("c", Kind.UNANSWERABLE, split="test"), (), right=True)
    tune, test = figures([right, wrong, elsewhere])
    assert tune == {
        "split": "tune", "language": "en", "questions": 2, "right": 0.5,
        "unanswerable_answered": 0.0, "fact": 0.5,
    }  # fmt: skip
    assert test["split"] == "test"
    assert test["unanswerable"] == 1.0


def test_answers_to_unanswerable_questions_are_counted():
    quote = (object(),)
    answered = Grade(question("a", Kind.UNANSWERABLE), quote, right=False)
    unanswered = Grade(question("b", Kind.UNANSWERABLE_NEAR), (), right=True)
    [row] = figures([answered, unanswered])
    assert row["unanswerable_answered"] == 0.5
