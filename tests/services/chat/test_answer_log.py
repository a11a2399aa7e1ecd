import json
import logging

import pytest

from domain import LOCAL_USER, SearchChoice
from domain.errors import ModelError
from tests.fakes.openai import Fault, Text

QUESTION = "How many days of annual leave?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave"].'
STAGES = {"prepare_ms", "condense_ms", "retrieve_ms", "answer_ms", "verify_ms"}


@pytest.fixture
def services(imported):
    return imported(chat=True, embed=True)


@pytest.fixture
def lines(caplog):
    """Function that returns the log records of a logger at a level or above."""

    def read(logger="questions", level=logging.DEBUG):
        records = [one for one in caplog.records if one.name == f"footnote.{logger}"]
        return [one for one in records if one.levelno >= level]

    return read


@pytest.fixture(autouse=True)
def _every_level(services, caplog):
    caplog.set_level(logging.DEBUG, "footnote")
    caplog.clear()


def test_an_answer_is_logged_on_one_line_with_its_stages_and_evidence(
    services, model_server, lines
):
    model_server.will(Text(GOOD))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    (line,) = lines(level=logging.INFO)
    assert line.getMessage() == "question complete"
    assert line.fields.keys() >= STAGES | {"input_tokens", "output_tokens", "first_token_ms"}
    stages = sum(line.fields[stage] for stage in STAGES)
    assert stages == pytest.approx(line.fields["total_ms"], abs=1)
    counts = {name: line.fields[name] for name in ("passages", "citations", "verified", "steps")}
    assert counts == {"passages": len(turn.sources), "citations": 1, "verified": 1, "steps": 0}
    assert line.fields["question_id"] == turn.id


def test_user_text_is_logged_at_debug_only(services, model_server, lines):
    model_server.will(Text(GOOD))
    services.chat.ask(LOCAL_USER, QUESTION)
    assert "annual" not in str([one.__dict__ for one in lines(level=logging.INFO)])
    texts = {one.getMessage(): one.fields for one in lines()}
    assert texts["question text"]["question"] == QUESTION
    assert texts["question text"]["answer"].startswith("They get 25 days")
    assert {"document", "heading", "score", "ranks"} < texts["passage retrieved"].keys()
    assert texts["citation checked"]["state"] == "verified"


def test_a_failed_question_is_logged_with_the_number_of_passages(services, model_server, lines):
    model_server.will(Fault(500))
    with pytest.raises(ModelError):
        services.chat.ask(LOCAL_USER, QUESTION)
    (line,) = lines(level=logging.INFO)
    assert line.getMessage() == "question failed"
    assert line.fields["passages"] > 0


def test_requests_to_the_model_are_logged_with_the_question_id(
    build_services, model_server, capsys
):
    services = build_services(chat=True, embed=True, log_level="debug", log_format="json")
    model_server.will(Text(GOOD))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    requests = [line for line in logged if line["event"] == "outgoing request"]
    (chat,) = [line for line in requests if line["path"] == "/v1/chat/completions"]
    assert (chat["question_id"], chat["status"], chat["attempt"]) == (turn.id, 200, 1)


def test_a_question_that_is_not_stored_also_has_an_id(services, model_server, lines):
    model_server.will(Text(GOOD))
    list(services.chat.answer(LOCAL_USER, QUESTION))
    assert len(lines(level=logging.INFO)[0].fields["question_id"]) == 32


def test_an_answer_with_invalid_citations_is_logged_as_a_warning(services, model_server, lines):
    model_server.will(Text('They get 99 days [1: "ninety-nine days for everyone"].'))
    services.chat.ask(LOCAL_USER, QUESTION)
    (warning,) = lines(level=logging.WARNING)
    expected = "answer not supported by its citations: an extract follows"
    assert warning.getMessage() == expected


def test_an_unusable_standalone_question_is_logged_as_a_warning(services, model_server, lines):
    model_server.will(Text(GOOD))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    model_server.will(Text("[1]"), Text(GOOD))
    services.chat.ask(LOCAL_USER, "And when sick?", turn.conversation_id)
    expected = "no standalone question from the model: using rules or the typed one"
    assert lines(level=logging.WARNING)[0].getMessage() == expected


def test_the_search_mode_is_logged(services, model_server, lines):
    model_server.will(Text(GOOD))
    services.chat.ask(LOCAL_USER, QUESTION, search=SearchChoice(k=1))
    assert lines(level=logging.INFO)[0].fields["mode"] == "convex"
