"""A turn as the messages of a history."""

from datetime import UTC, datetime

from chains.history import cited_headings, last_citations, render_history
from domain import Citation, CitationState, Turn, TurnState
from services.chat.chat_service import messages_of

CITED = Citation(
    1,
    CitationState.VERIFIED,
    "New employees get 25 days",
    title="Leave policy",
    document_id="leave",
    heading_path=("Annual leave",),
)
INVENTED = Citation(2, CitationState.NOT_FOUND, "Fridays are free", title="VPN")


def turn(answer, *citations):
    return Turn(
        "t",
        "c",
        "How much leave?",
        TurnState.COMPLETE,
        datetime.now(UTC),
        answer=answer,
        citations=citations,
    )


def test_the_answer_message_has_its_verified_citations():
    messages = messages_of(turn("25 days [1]. Fridays are free [2].", INVENTED, CITED))
    [citation] = last_citations(messages)
    assert citation["cited_text"] == "New employees get 25 days"
    assert citation["extras"]["document_id"] == "leave"
    assert cited_headings(messages) == ["Leave policy", "Annual leave"]


def test_a_turn_without_an_answer_has_an_empty_answer_message():
    messages = messages_of(turn(""))
    assert [message.type for message in messages] == ["human", "ai"]
    assert render_history(messages) == "\nHuman: How much leave?"
    assert last_citations(messages) == []
