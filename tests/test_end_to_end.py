"""A question from the client to the stored turn; only the model is a third-party mock."""

import json
import logging
import sqlite3

import pytest

from domain import LOCAL_USER, CitationState, TurnState
from domain.errors import ModelError, ModelUnavailableError
from services.events import PassagesRetrieved, Searching, TextDelta, TurnFinished, TurnStarted
from tests.conversations import conversations_of
from tests.fakes.command_line import CommandLine
from tests.fakes.llmock import serving

KEY = "sk-end-to-end-0123456789abcdef"
QUESTION = "How many days of annual leave do new employees get?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'
INVENTED = 'They get 40 days [1: "New employees get 40 days of annual leave a year"] [9].'


@pytest.fixture(scope="module")
def process():
    with serving() as running:
        yield running


@pytest.fixture
def llm(process):
    process.reset()
    return process


@pytest.fixture
def services(build_services, handbook, llm):
    services = build_services(
        openai_base_url=llm.url, openai_api_key=KEY, chat_model="gpt-4o-mini", chat_timeout_s=5
    )
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


def reply_with(text):
    return {"type": "reply", "text": text}


def prompts(llm):
    """The messages of each request to the model, joined."""
    return [
        "\n".join(message["content"] for message in request["body"]["messages"])
        for request in llm.requests()
    ]


def test_an_answer_over_http_has_a_verified_citation(services, llm):
    llm.script(reply_with(GOOD))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert turn.answer == "They get 25 days [1]."
    [citation] = turn.citations
    assert (citation.state, citation.title) == (CitationState.VERIFIED, "Leave policy")
    assert citation.location.endswith("leave.md")
    assert (turn.model, turn.state) == ("gpt-4o-mini", TurnState.COMPLETE)
    assert turn.usage["output_tokens"] > 0
    assert "New employees get 25 days" in prompts(llm)[0]
    assert llm.findings() == set()


def test_an_invented_quote_and_an_invented_number_are_flagged(services, llm):
    llm.script(reply_with(INVENTED))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    states = [citation.state for citation in turn.citations]
    assert states[:2] == [CitationState.NOT_FOUND, CitationState.NO_SUCH_SOURCE]
    assert set(states[2:]) == {CitationState.VERIFIED}  # citations of the extract below the answer
    assert turn.unsupported_sentences == 1


def test_a_stream_arrives_in_order_and_matches_the_stored_answer(services, llm):
    llm.script(reply_with(f"{GOOD} Unused days lapse on 31 March."))
    events = list(services.chat.stream(LOCAL_USER, QUESTION))
    assert [type(event) for event in events[:3]] == [TurnStarted, Searching, PassagesRetrieved]
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 3
    assert isinstance(events[-1], TurnFinished)
    turn = events[-1].turn
    assert "".join(pieces).strip() == turn.answer.strip()
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_the_model_condenses_a_follow_up_before_the_search(services, llm):
    llm.script(
        reply_with(GOOD),
        reply_with("When do unused days of annual leave lapse?"),
        reply_with('On 31 March [1: "Unused days lapse on 31 March"].'),
    )
    first = services.chat.ask(LOCAL_USER, QUESTION)
    second = services.chat.ask(LOCAL_USER, "When do they lapse?", first.conversation_id)
    assert second.standalone_question == "When do unused days of annual leave lapse?"
    assert second.citations[0].state is CitationState.VERIFIED
    condensing = prompts(llm)[1]
    assert QUESTION in condensing
    assert "They get 25 days" in condensing
    assert [turn.id for turn in services.turns.list(LOCAL_USER, first.conversation_id)] == [
        first.id,
        second.id,
    ]


def test_an_interrupted_answer_is_stored_and_the_next_question_works(services, llm):
    llm.script(reply_with(GOOD), {"type": "stream_fault", "kind": "truncate", "after_chunks": 4})
    with pytest.raises(ModelUnavailableError, match="Ask again"):
        services.chat.ask(LOCAL_USER, QUESTION)
    [conversation] = conversations_of(services)
    [turn] = services.turns.list(LOCAL_USER, conversation.id)
    assert (turn.question, turn.state) == (QUESTION, TurnState.INCOMPLETE)
    assert turn.answer
    llm.script(reply_with(QUESTION), reply_with(GOOD))
    next_turn = services.chat.ask(LOCAL_USER, QUESTION, conversation.id)
    assert next_turn.citations[0].state is CitationState.VERIFIED


@pytest.mark.parametrize("status", [401, 429, 500])
def test_the_key_appears_in_no_message_log_or_stored_value(services, llm, caplog, tmp_path, status):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "footnote")
    llm.script(reply_with(GOOD))
    services.chat.ask(LOCAL_USER, QUESTION)
    llm.script(
        {"type": "fail", "status": status, "message": f"Incorrect API key provided: {KEY}. Again?"}
    )
    with pytest.raises(ModelError) as caught:
        services.chat.ask(LOCAL_USER, QUESTION)
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text
    assert KEY not in repr(services.__dict__)
    assert_key_not_stored(tmp_path / "data")


def assert_key_not_stored(data_dir):
    paths = [
        path
        for path in data_dir.rglob("*")
        if path.is_file() and "cache" not in path.parts and KEY.encode() in path.read_bytes()
    ]
    assert paths == []
    with sqlite3.connect(data_dir / "footnote.db") as ledger:
        assert KEY not in "\n".join(ledger.iterdump())


def test_the_command_line_uses_the_model_and_shows_no_key(services, llm, tmp_path, model_cache):
    footnote = CommandLine(
        tmp_path / "data",
        tmp_path,
        {
            "OPENAI_BASE_URL": llm.url,
            "OPENAI_API_KEY": KEY,
            "FOOTNOTE_CHAT_MODEL": "gpt-4o-mini",
        },
    )
    llm.script(reply_with(GOOD))
    result = footnote.run("ask", QUESTION, "--json")
    answer = json.loads(result.stdout)
    assert answer["model"] == "gpt-4o-mini"
    assert answer["citations"][0]["state"] == "verified"
    llm.script(type="fail", status=401, message=f"Incorrect API key provided: {KEY}")
    refused = footnote.run("ask", QUESTION, code=1)
    assert "OPENAI_API_KEY" in refused.stderr
    assert KEY not in result.stdout + result.stderr + refused.stdout + refused.stderr
