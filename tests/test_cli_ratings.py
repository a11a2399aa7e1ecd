import json

import pytest

from domain import LOCAL_USER
from services.evaluation.rating_service import Reason

pytestmark = pytest.mark.slow

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture
def rated(imported):
    """A library with a rated answer."""
    services = imported()
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    services.ratings.rate(LOCAL_USER, turn.id, 0, Reason.INCOMPLETE, "And in\n[b]part time[/b]?")
    return services, turn


def test_ratings_are_listed_with_their_reasons_and_client(line, rated):
    _, turn = rated
    head, comment, where = line.run("ratings").stdout.splitlines()
    assert head.endswith(f"down (incomplete)  {QUESTION}")
    assert comment.strip() == "And in [b]part time[/b]?"
    assert where.endswith(f"--replay {turn.id}")
    [listed] = json.loads(line.run("ratings", "--json").stdout)
    assert (listed["verdict"], listed["reason"]) == ("down", "incomplete")
    assert (listed["turn_id"], listed["conversation_id"]) == (turn.id, turn.conversation_id)


def test_without_ratings_the_command_says_so(line):
    assert "No answer has been rated" in line.run("ratings").stdout
    assert json.loads(line.run("ratings", "--json").stdout) == []


def test_a_replay_shows_both_answers_and_the_changed_citations(line, rated, handbook):
    services, turn = rated
    (handbook / "leave.md").write_text("# [i]Canteen[/i]\n\nNew employees get lunch.\n")
    services.directories.import_directory(LOCAL_USER, handbook)
    rows = line.run("ratings", "--replay", turn.id, COLUMNS="400").stdout.splitlines()
    assert rows[0] == QUESTION
    assert rows[1].startswith("Then, 20")
    removed = [row for row in rows if row.rstrip().endswith(" gone")]
    assert removed
    assert all("Leave policy" in row for row in removed)
    [new] = [row for row in rows if row.startswith("new ")]
    assert "[i]Canteen[/i] (" in new
    data = json.loads(line.run("ratings", "--replay", turn.id, "--json").stdout)
    assert data["question"] == QUESTION
    assert "25 days" in data["before"]["answer"]
    assert "25 days" not in data["after"]["answer"]
    assert {one["title"]: one["now"] for one in data["passages"]}["Leave policy"] is None
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_an_unanswered_question_cannot_be_replayed(line):
    assert "no answer nowhere" in line.run("ratings", "--replay", "nowhere", code=1).stderr
