"""Properties of answers from any chat model, checked with one that writes mostly nonsense."""

import pytest

from chains.model_answer import is_usable
from domain import CUT_SHORT_REASONS, LOCAL_USER, CitationState, TurnState
from domain.errors import ModelError
from models.answer_limits import CHARS_PER_TOKEN
from services.chat.running_answer import BLANK, REPEATED_ITSELF, TOO_LONG
from services.events import Condensing, TextDelta, TurnFinished
from tests.chat_model.conftest import MOST_TOKENS
from tests.chat_model.server import NAME

pytestmark = [pytest.mark.chat_model, pytest.mark.timeout(1200)]

LEAVE = "How many days of annual leave do new employees get?"
CONVERSATIONS = [
    (LEAVE, "And after two years?"),
    ("노트북을 잃어버리면 어떻게 해야 하나요?", "누구에게 신고하나요?"),
    ("障害のあと、ふりかえりの会はいつまでに開きますか？", "誰が参加しますか？"),
    ("Who is the CEO of the company?", "Thanks!"),
]
MOST_EXTRACT_CHARS = 3_000
"""An upper bound for a heading and three sentences."""


def documents_of(turn):
    from langchain_core.documents import Document

    return [
        Document(one.text, metadata={"title": one.title, "heading_path": one.heading_path})
        for one in turn.sources
    ]


def reported_usage(exchanges):
    """Input and output tokens that the server reported for these requests."""
    usages = [usage for one in exchanges if (usage := one.usage())]
    if not usages:
        return {}
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    return {
        name: sum(usage[server_name] for usage in usages) for name, server_name in names.items()
    }


def require_complete_turn(services, turn, exchanges):
    """Check the properties of a complete answer, whatever the model wrote."""
    last = exchanges[-1]
    assert last.finished.wait(60)
    assert turn.model == NAME
    assert turn.answer.strip()
    assert len(turn.answer) <= MOST_TOKENS * CHARS_PER_TOKEN + MOST_EXTRACT_CHARS
    assert {one.request["max_tokens"] for one in exchanges} == {MOST_TOKENS}
    if turn.state is TurnState.COMPLETE:
        assert turn.error == ""
        assert last.finish_reason() not in CUT_SHORT_REASONS
    else:
        assert turn.state is TurnState.INCOMPLETE
        assert turn.error in {TOO_LONG, REPEATED_ITSELF, BLANK}
    assert turn.usage == reported_usage(exchanges)
    require_evidence(services, turn)
    assert services.turns.get(LOCAL_USER, turn.conversation_id, turn.id) == turn


def require_evidence(services, turn):
    """Check that verified quotes occur in their documents and useless answers get an extract."""
    verified = [one for one in turn.citations if one.state is CitationState.VERIFIED]
    for one in verified:
        text = services.reader.text(LOCAL_USER, one.document_id)
        assert text[one.start : one.end] == one.quote
        assert one.quote.strip()
    by_model, heading, _ = turn.answer.partition("\n\n**")
    if not heading and not is_usable(turn.answer, documents_of(turn)):
        assert not verified or len(verified) < len(turn.citations)
    if heading:
        assert verified
        assert turn.error or not is_usable(by_model, documents_of(turn))


@pytest.mark.parametrize(
    "questions", CONVERSATIONS, ids=["english", "korean", "japanese", "unanswerable"]
)
def test_a_conversation_is_answered_within_limits_checked_and_stored(services, recorder, questions):
    conversation, turns = None, []
    for question in questions:
        before = len(recorder.exchanges)
        events = list(services.chat.stream(LOCAL_USER, question, conversation))
        turn = events[-1].turn
        exchanges = recorder.exchanges[before:]
        # A follow-up is condensed first, unless the previous answer exceeds the history limit.
        assert len(exchanges) in ({1} if conversation is None else {1, 2})
        require_complete_turn(services, turn, exchanges)
        assert isinstance(events[-1], TurnFinished)
        assert "".join(one.text for one in events if isinstance(one, TextDelta)) == turn.answer
        assert 0 < len(turn.standalone_question) <= 2_100
        conversation = turn.conversation_id
        turns.append(turn)
    assert services.turns.list(LOCAL_USER, conversation) == turns


def test_an_answer_that_the_documents_do_not_support_gets_an_extract(services):
    """Gemma 3 270M is not tuned to follow the prompt; a better model may need no extract."""
    turn = services.chat.ask(LOCAL_USER, LEAVE)
    if not is_usable(turn.answer.partition("\n\n**")[0], documents_of(turn)):
        assert "**The text above cites nothing that was found in the documents." in turn.answer
    assert any(
        one.state is CitationState.VERIFIED and "25 days" in one.quote for one in turn.citations
    )


def test_stopping_keeps_the_partial_answer_and_stops_the_model(imported, recorder):
    services = imported(chat_max_tokens=1_000)
    stream = services.chat.stream(LOCAL_USER, LEAVE)
    started, pieces = next(stream), []
    for event in stream:
        if isinstance(event, TextDelta):
            pieces.append(event.text)
        if len(pieces) == 3:
            break
    stream.close()
    (exchange,) = recorder.exchanges
    assert exchange.finished.wait(60)
    assert exchange.disconnected
    assert exchange.finish_reason() is None
    turn = services.turns.get(LOCAL_USER, started.turn.conversation_id, started.turn.id)
    assert turn.state is TurnState.STOPPED
    assert turn.answer.startswith("".join(pieces))
    assert "**The text above" not in turn.answer
    next_turn = services.chat.ask(LOCAL_USER, LEAVE)  # the server is idle again
    assert next_turn.state in {TurnState.COMPLETE, TurnState.INCOMPLETE}


def test_stopping_during_condensing_stops_the_model(imported, recorder):
    services = imported(chat_max_tokens=1_000, history_tokens=1_000)
    question = "노트북을 잃어버리면?"
    first = imported(chat_max_tokens=20).chat.ask(LOCAL_USER, question)
    stream = services.chat.stream(LOCAL_USER, "누구에게 신고하나요?", first.conversation_id)
    started = next(stream)
    assert next(stream) == Condensing()
    stream.close()
    assert recorder.exchanges[-1].finished.wait(60)
    turn = services.turns.get(LOCAL_USER, first.conversation_id, started.turn.id)
    assert (turn.state, turn.answer) == (TurnState.STOPPED, "")


def test_a_prompt_longer_than_the_context_is_sent_again_with_half_of_the_passages(
    imported, recorder
):
    turn = imported(passages_tokens=20_000, top_k=20).chat.ask(LOCAL_USER, LEAVE)
    assert len(recorder.exchanges) > 1
    assert len(turn.sources) == 10
    assert turn.state in {TurnState.COMPLETE, TurnState.INCOMPLETE}


def test_a_prompt_longer_than_the_context_even_with_half_of_the_passages_is_a_clear_error(imported):
    services = imported(passages_tokens=20_000, top_k=50)
    with pytest.raises(ModelError, match="too long for gemma") as raised:
        services.chat.ask(LOCAL_USER, LEAVE)
    assert "maximum context length is 2048 tokens" in str(raised.value)
    assert "FOOTNOTE_PASSAGES_TOKENS" in str(raised.value)
    (conversation,) = services.conversations.page(LOCAL_USER, limit=1).items
    (turn,) = services.turns.list(LOCAL_USER, conversation.id)
    assert (turn.state, turn.error) == (TurnState.FAILED, str(raised.value))


def test_a_long_conversation_fits_the_context(services, recorder):
    conversation = None
    for question in (LEAVE, "And sick leave?", "And parental leave?", "Who approves it?"):
        before = len(recorder.exchanges)
        turn = services.chat.ask(LOCAL_USER, question, conversation)
        require_complete_turn(services, turn, recorder.exchanges[before:])
        conversation = turn.conversation_id
