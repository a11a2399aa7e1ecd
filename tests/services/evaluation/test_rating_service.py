import pytest

from domain import LOCAL_USER, Principal
from domain.errors import InputError, NotFoundError
from services.evaluation.rating_service import Reason

BERT = Principal("bert")
LEAVE = "How many days of annual leave do new employees get?"


@pytest.fixture
def services(imported):
    return imported(embed=True)


@pytest.fixture
def turn(services):
    return services.chat.ask(LOCAL_USER, LEAVE)


def grades(services):
    return [label.grade for label in services.labels.list(LOCAL_USER)]


def test_a_rating_is_stored_with_its_reason(services, turn):
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.WRONG, "  It is 25 days. ")
    rating = services.ratings.rating(LOCAL_USER, turn.id)
    assert (rating.grade, rating.reason, rating.comment) == (0, Reason.WRONG, "It is 25 days.")
    assert services.ratings.rating(BERT, turn.id) is None


def test_a_rating_can_be_changed_and_removed(services, turn):
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.WRONG, "No.")
    services.ratings.rate(LOCAL_USER, turn.id, 1)
    rating = services.ratings.rating(LOCAL_USER, turn.id)
    assert (rating.grade, rating.reason, rating.comment) == (1, None, "")
    services.ratings.rate(LOCAL_USER, turn.id, None)
    assert services.ratings.rating(LOCAL_USER, turn.id) is None
    assert grades(services) == []


def test_a_thumbs_up_labels_the_cited_passages_as_relevant(services, turn):
    services.ratings.rate(LOCAL_USER, turn.id, 1)
    assert grades(services) == [1]


@pytest.mark.parametrize(
    ("reason", "labeled"),
    [
        (None, [0]),
        (Reason.WRONG, [0]),
        (Reason.WRONG_SOURCES, [0]),
        (Reason.INCOMPLETE, []),
        (Reason.NOT_FOUND, []),
        (Reason.TOO_SLOW, []),
        (Reason.OTHER, []),
    ],
)
def test_a_thumbs_down_labels_passages_unless_its_reason_is_unrelated_to_them(
    services, turn, reason, labeled
):
    services.ratings.rate(LOCAL_USER, turn.id, 0)
    services.ratings.rate(LOCAL_USER, turn.id, 0, reason)
    assert grades(services) == labeled


def test_an_answer_without_citations_can_be_rated(services):
    turn = services.chat.ask(LOCAL_USER, "xyzzy plugh?")
    assert not turn.citations
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.NOT_FOUND)
    assert services.ratings.rating(LOCAL_USER, turn.id).reason is Reason.NOT_FOUND
    assert grades(services) == []


@pytest.mark.parametrize(("grade", "comment"), [(2, ""), (-1, ""), (0, "x" * 2001), (0, "\ud800")])
def test_an_invalid_rating_is_rejected(services, turn, grade, comment):
    with pytest.raises(InputError):
        services.ratings.rate(LOCAL_USER, turn.id, grade, Reason.WRONG, comment)
    assert services.ratings.rating(LOCAL_USER, turn.id) is None
    assert grades(services) == []


def test_answers_of_other_users_can_be_neither_rated_nor_replayed(services, turn):
    for call in (
        lambda: services.ratings.rate(BERT, turn.id, 1),
        lambda: services.ratings.replay(BERT, turn.id),
        lambda: services.ratings.rate(LOCAL_USER, "nowhere", 1),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_ratings_are_listed_newest_first_with_their_question_and_conversation(services, turn):
    second = services.chat.ask(LOCAL_USER, "Which gateway?", turn.conversation_id)
    services.ratings.rate(LOCAL_USER, second.id, 0, Reason.WRONG)
    services.ratings.rate(LOCAL_USER, turn.id, 1)
    first, last = services.ratings.list(LOCAL_USER)
    assert [one.question for one in (first, last)] == [LEAVE, "Which gateway?"]
    assert (last.rating.grade, last.rating.reason) == (0, Reason.WRONG)
    assert (first.conversation_id, first.conversation) == (turn.conversation_id, LEAVE)
    assert services.ratings.list(BERT) == []
    services.conversations.delete(LOCAL_USER, turn.conversation_id)
    assert services.ratings.list(LOCAL_USER) == []


def test_a_replay_of_an_unchanged_library_is_identical_and_not_stored(services, turn):
    replay = services.ratings.replay(LOCAL_USER, turn.id)
    assert replay.before == turn
    assert replay.after.standalone_question == turn.standalone_question
    assert (replay.after.answer, replay.after.citations) == (turn.answer, turn.citations)
    assert [one.now for one in replay.passages] == [one.then for one in replay.passages]
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_a_replay_lists_missing_and_new_passages(services, turn, handbook):
    (handbook / "leave.md").write_text("# Canteen\n\nOpen at noon.\n", encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, handbook)
    replay = services.ratings.replay(LOCAL_USER, turn.id)
    assert {one.title for one in replay.passages if one.now is None} == {"Leave policy"}
    [new] = [one for one in replay.passages if one.then is None]
    assert (new.title, new.location) == ("Canteen", str(handbook / "leave.md"))
    assert "25 days" in replay.before.answer
    assert "25 days" not in replay.after.answer


def test_an_answer_of_a_deleted_conversation_cannot_be_rated(services, turn):
    services.conversations.delete(LOCAL_USER, turn.conversation_id)
    with pytest.raises(NotFoundError):
        services.ratings.rate(LOCAL_USER, turn.id, 1)
    assert grades(services) == []
