import pytest

from domain import LOCAL_USER, Principal
from errors import InputError, NotFoundError
from services.ratings import Reason

BERT = Principal("bert")
LEAVE = "How many days of annual leave do new employees get?"


@pytest.fixture
def services(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


@pytest.fixture
def turn(services):
    return services.chat.ask(LOCAL_USER, LEAVE)


def grades(services):
    return [label.grade for label in services.labels.list(LOCAL_USER)]


def test_a_thumb_is_kept_with_its_reason(services, turn):
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.WRONG, "  It is 25 days. ")
    kept = services.ratings.rating(LOCAL_USER, turn.id)
    assert (kept.grade, kept.reason, kept.comment) == (0, Reason.WRONG, "It is 25 days.")
    assert services.ratings.rating(BERT, turn.id) is None


def test_a_thumb_can_be_changed_and_taken_back(services, turn):
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.WRONG, "No.")
    services.ratings.rate(LOCAL_USER, turn.id, 1)
    kept = services.ratings.rating(LOCAL_USER, turn.id)
    assert (kept.grade, kept.reason, kept.comment) == (1, None, "")
    services.ratings.rate(LOCAL_USER, turn.id, None)
    assert services.ratings.rating(LOCAL_USER, turn.id) is None
    assert grades(services) == []


def test_a_thumb_up_labels_the_passages_that_are_cited(services, turn):
    services.ratings.rate(LOCAL_USER, turn.id, 1)
    assert grades(services) == [1]


@pytest.mark.parametrize(
    ("reason", "labelled"),
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
def test_a_thumb_down_labels_passages_only_where_it_speaks_of_them(
    services, turn, reason, labelled
):
    services.ratings.rate(LOCAL_USER, turn.id, 0)
    services.ratings.rate(LOCAL_USER, turn.id, 0, reason)
    assert grades(services) == labelled


def test_an_answer_that_cites_nothing_can_be_rated(services):
    turn = services.chat.ask(LOCAL_USER, "xyzzy plugh?")
    assert not turn.citations
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.NOT_FOUND)
    assert services.ratings.rating(LOCAL_USER, turn.id).reason is Reason.NOT_FOUND
    assert grades(services) == []


@pytest.mark.parametrize(("grade", "comment"), [(2, ""), (-1, ""), (0, "x" * 2001), (0, "\ud800")])
def test_a_senseless_rating_is_refused(services, turn, grade, comment):
    with pytest.raises(InputError):
        services.ratings.rate(LOCAL_USER, turn.id, grade, Reason.WRONG, comment)
    assert services.ratings.rating(LOCAL_USER, turn.id) is None
    assert grades(services) == []


def test_nobody_rates_another_persons_answer(services, turn):
    for call in (
        lambda: services.ratings.rate(BERT, turn.id, 1),
        lambda: services.ratings.replay(BERT, turn.id),
        lambda: services.ratings.rate(LOCAL_USER, "nowhere", 1),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_a_replay_finds_the_same_while_the_library_is_the_same(services, turn):
    replay = services.ratings.replay(LOCAL_USER, turn.id)
    assert replay.question == turn.standalone_question
    assert [one.rank_now for one in replay.passages] == [one.rank_then for one in replay.passages]
    assert replay.found_now == tuple(source.title for source in turn.sources)


def test_a_replay_tells_what_is_not_found_any_more(services, turn, handbook):
    (handbook / "leave.md").write_text("# Canteen\n\nOpen at noon.\n", encoding="utf-8")
    (handbook / "vpn.md").write_text(
        "# VPN of the company\n\nInstall WireGuard and choose the Bristol gateway.\n",
        encoding="utf-8",
    )
    services.directories.import_directory(LOCAL_USER, handbook)
    replay = services.ratings.replay(LOCAL_USER, turn.id)
    now = {one.title: one.rank_now for one in replay.passages}
    assert now["Leave policy"] is None
    assert all(rank for title, rank in now.items() if title not in ("Leave policy", "VPN"))


def test_an_answer_of_a_deleted_conversation_is_not_rated(services, turn):
    services.conversations.delete(LOCAL_USER, turn.conversation_id)
    with pytest.raises(NotFoundError):
        services.ratings.rate(LOCAL_USER, turn.id, 1)
    assert grades(services) == []
