"""`cli.py ask`: quotes below their sources, follow-ups, and questions that no passage answers."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import app
from commands.question_commands import MAX_NEAREST, _print_turn
from domain import (
    EXTRACTIVE,
    LOCAL_USER,
    Citation,
    CitationState,
    Principal,
    RetrievedPassage,
    Turn,
    TurnState,
)
from domain.errors import NotFoundError
from services.chat.running_answer import BLANK, CALLED_TOOLS, FILTERED
from tests.fakes.openai import Call, Text, ToolCalls

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


def test_they_are_also_listed_if_a_chat_model_found_no_answer(capsys):
    _print_turn(turn_of(1, model="a chat model"))
    assert HEADING in capsys.readouterr().out


@pytest.mark.parametrize(
    "fields",
    [
        {"citations": (Citation(1, CitationState.VERIFIED, "Text.", "Title 1", "1.pdf"),)},
        {"model": "a chat model", "answer": "It takes two days."},
        {"sources": ()},
    ],
)
def test_no_passages_are_listed_below_other_kinds_of_answers(capsys, fields):
    _print_turn(turn_of(2, **fields))
    output = capsys.readouterr().out
    assert HEADING not in output
    assert "\n- " not in output


def test_each_quote_is_printed_once_below_its_source(capsys):
    def citation(n, quote, state=CitationState.VERIFIED, **fields):
        return Citation(n, state, quote, f"Title {n}", f"{n}.md", **fields)

    citations = (
        citation(1, "25 days\na year."),
        citation(2, "25 days a year."),
        citation(1, "27 days."),
        citation(1, "25 days a year."),
        citation(1, "27 days.", quoted_by_answer=False),
        citation(2, "30 days.", CitationState.NOT_FOUND),
        citation(9, "", CitationState.NO_SUCH_SOURCE),
        citation(9, "", CitationState.NO_SUCH_SOURCE),
    )
    _print_turn(turn_of(2, answer="So it is.", citations=citations))
    assert capsys.readouterr().out.splitlines()[2:-2] == [
        "[1] found in the document: Title 1 (1.md)",
        "    “25 days a year.”",
        "    “27 days.”",
        "[2] found in the document: Title 2 (2.md)",
        "    “25 days a year.”",
        "[2] not found: Title 2 (2.md)",
        "    “30 days.”",
        "[9] no such source",
    ]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Text(""), BLANK),
        (ToolCalls(Call("search", {})), CALLED_TOOLS),
        (Text("They get", finish_reason="content_filter"), FILTERED),
    ],
)
def test_a_reply_without_an_answer_is_explained_after_the_extract(
    imported, model_server, capsys, reply, reason
):
    model_server.will(reply)
    services = imported(chat=True)
    question = "How many days of annual leave do new employees get?"
    _print_turn(services.chat.ask(LOCAL_USER, question))
    printed = capsys.readouterr()
    assert "“New employees get 25 days of annual leave a year.” [1]" in printed.out
    assert HEADING not in printed.out
    assert f"This answer is incomplete. {reason}" in printed.err


def test_the_last_line_continues_the_conversation_in_the_same_data_folder(capsys):
    _print_turn(turn_of(1), Path("my data"))
    *_, model, command = capsys.readouterr().out.splitlines()
    assert model == f"{EXTRACTIVE}; conversation c"
    assert command.endswith(""": python cli.py ask --continue --data-dir 'my data' "QUESTION\"""")


def ask(folder, *arguments):
    return CliRunner().invoke(app, ["ask", *arguments, "--data-dir", str(folder)])


def test_a_question_continues_the_conversation_used_last(imported):
    services = imported()
    folder = services.parts.settings.data_dir
    first = services.chat.ask(LOCAL_USER, "How many days of annual leave do new employees get?")
    services.chat.ask(LOCAL_USER, "How do I install WireGuard?")
    services.chat.ask(Principal("ada"), "How do I install WireGuard?")
    services.chat.ask(LOCAL_USER, "Thanks", first.conversation_id)
    result = ask(folder, "--continue", "And after two years?", "--json")
    turn = json.loads(result.stdout)
    assert turn["conversation_id"] == first.conversation_id
    assert "annual leave" in turn["standalone_question"]
    assert len(services.turns.list(LOCAL_USER, first.conversation_id)) == 3


def test_without_a_conversation_the_error_names_the_command_that_starts_one(build_services):
    services = build_services()
    folder = services.parts.settings.data_dir
    services.chat.ask(Principal("ada"), "Hello")
    result = ask(folder, "--continue", "And after two years?")
    assert isinstance(result.exception, NotFoundError)
    command = f'`python cli.py ask --data-dir {folder} "QUESTION"`'
    assert str(result.exception) == (
        f"There is no conversation to continue: start one with {command}."
    )
    assert services.conversations.page(LOCAL_USER, limit=1).total == 0


def test_one_conversation_at_a_time_can_be_continued(tmp_path):
    result = ask(tmp_path, "--continue", "--conversation", "c", "And after two years?")
    assert result.exit_code == 2
    assert "cannot be combined" in result.stderr


@pytest.mark.parametrize("command", [["ask", "How long?"], ["search", "leave"]])
def test_an_empty_library_names_the_command_that_imports_documents(build_services, command):
    folder = str(build_services().parts.settings.data_dir)
    result = CliRunner().invoke(app, [*command, "--data-dir", folder])
    assert result.exit_code == 0, result.output
    assert f"with `python cli.py import PATH --data-dir {folder}`" in result.stderr


@pytest.mark.parametrize(
    "question",
    [
        "Who is the chief astronomer of the observatory on Mars?",
        "화성 천문대의 수석 천문학자는 누구인가요?",
        "火星天文台の首席天文学者は誰ですか。",
    ],
)
def test_an_unanswered_question_lists_the_nearest_passages_in_each_language(imported, question):
    folder = str(imported().parts.settings.data_dir)
    result = CliRunner().invoke(app, ["ask", question, "--data-dir", folder])
    assert result.exit_code == 0, result.output
    assert HEADING in result.stdout
    assert 1 <= result.stdout.count("\n- ") <= MAX_NEAREST
    as_json = CliRunner().invoke(app, ["ask", question, "--data-dir", folder, "--json"])
    assert json.loads(as_json.stdout)["citations"] == []
