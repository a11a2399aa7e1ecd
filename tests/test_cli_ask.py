"""`cli.py ask` for questions that no passage answers."""

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from cli import app
from commands.question_commands import MAX_NEAREST, _print_turn
from domain import EXTRACTIVE, Citation, CitationState, RetrievedPassage, Turn, TurnState

HEADING = "Nearest passages, which may not answer the question:"


def turn_of(count, **fields):
    sources = tuple(
        RetrievedPassage(
            n, f"p{n}", f"d{n}", f"Title {n}", f"{n}.pdf", "Text.", page=n if n == 2 else None
        )
        for n in range(1, count + 1)
    )
    fields_of_turn = {
        "answer": "I found no answer.",
        "model": EXTRACTIVE,
        "sources": sources,
    } | fields
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Turn("t", "c", "How long?", TurnState.COMPLETE, moment, **fields_of_turn)


@pytest.mark.parametrize("count", [1, MAX_NEAREST, MAX_NEAREST + 4])
def test_only_the_nearest_passages_are_listed_best_first(capsys, count):
    _print_turn(turn_of(count))
    output = capsys.readouterr().out
    listed = [line for line in output.splitlines() if line.startswith("- ")]
    places = ["1.pdf", "2.pdf, page 2", "3.pdf"]
    expected = [f"- Title {n} ({place})" for n, place in enumerate(places, start=1)]
    assert listed == expected[:count]
    assert output.index("I found no answer.") < output.index(HEADING) < output.index("- Title 1")


@pytest.mark.parametrize(
    "fields",
    [
        {"citations": (Citation(1, CitationState.VERIFIED, "Text.", "Title 1", "1.pdf"),)},
        {"model": "a chat model"},
        {"sources": ()},
    ],
)
def test_no_passages_are_listed_below_other_kinds_of_answers(capsys, fields):
    _print_turn(turn_of(2, **fields))
    output = capsys.readouterr().out
    assert HEADING not in output
    assert "\n- " not in output


@pytest.mark.parametrize(
    "question",
    [
        "Who is the chief astronomer of the observatory on Mars?",
        "화성 천문대의 수석 천문학자는 누구인가요?",
        "火星天文台の首席天文学者は誰ですか。",
    ],
)
def test_an_unanswered_question_lists_the_nearest_passages_in_each_language(imported, question):
    folder = str(imported().imports.data_dir)
    result = CliRunner().invoke(app, ["ask", question, "--data-dir", folder])
    assert result.exit_code == 0, result.output
    assert HEADING in result.stdout
    assert 1 <= result.stdout.count("\n- ") <= MAX_NEAREST
    as_json = CliRunner().invoke(app, ["ask", question, "--data-dir", folder, "--json"])
    assert json.loads(as_json.stdout)["citations"] == []
