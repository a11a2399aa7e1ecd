"""`cli.py ask` where no passage answers the question."""

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from cli import app
from commands.ask import MAX_NEAREST, _print_turn
from domain import EXTRACTIVE, Citation, CitationState, Source, Turn, TurnState

HEADING = "Nearest passages, which may not answer the question:"


def turn_of(count, **fields):
    sources = tuple(
        Source(n, f"p{n}", f"d{n}", f"Title {n}", f"{n}.pdf", "Text.", page=n if n == 2 else None)
        for n in range(1, count + 1)
    )
    chosen = {"answer": "I found no answer.", "model": EXTRACTIVE, "sources": sources} | fields
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Turn("t", "c", "How long?", TurnState.COMPLETE, moment, **chosen)


@pytest.mark.parametrize("count", [1, MAX_NEAREST, MAX_NEAREST + 4])
def test_the_nearest_passages_are_listed_best_first_and_few(capsys, count):
    _print_turn(turn_of(count))
    printed = capsys.readouterr().out
    listed = [line for line in printed.splitlines() if line.startswith("- ")]
    places = ["1.pdf", "2.pdf, page 2", "3.pdf"]
    expected = [f"- Title {n} ({place})" for n, place in enumerate(places, start=1)]
    assert listed == expected[:count]
    assert printed.index("I found no answer.") < printed.index(HEADING) < printed.index("- Title 1")


@pytest.mark.parametrize(
    "fields",
    [
        {"citations": (Citation(1, CitationState.VERIFIED, "Text.", "Title 1", "1.pdf"),)},
        {"model": "a chat model"},
        {"sources": ()},
    ],
)
def test_nothing_is_listed_below_an_answer_of_another_kind(capsys, fields):
    _print_turn(turn_of(2, **fields))
    printed = capsys.readouterr().out
    assert HEADING not in printed
    assert "\n- " not in printed


@pytest.mark.parametrize(
    "question",
    [
        "Who is the chief astronomer of the observatory on Mars?",
        "화성 천문대의 수석 천문학자는 누구인가요?",
        "火星天文台の首席天文学者は誰ですか。",
    ],
)
def test_a_question_that_nothing_answers_gets_them_in_each_language(imported, question):
    folder = str(imported().imports.data_dir)
    done = CliRunner().invoke(app, ["ask", question, "--data-dir", folder])
    assert done.exit_code == 0, done.output
    assert HEADING in done.stdout
    assert 1 <= done.stdout.count("\n- ") <= MAX_NEAREST
    as_json = CliRunner().invoke(app, ["ask", question, "--data-dir", folder, "--json"])
    assert json.loads(as_json.stdout)["citations"] == []
