"""A turn as LangChain messages, for the history of the next question."""

from typing import TYPE_CHECKING

from domain import Citation, CitationState, Turn

if TYPE_CHECKING:  # slow, and opening the page does not need it
    from langchain_core.messages import BaseMessage, content

HISTORY_TURNS = 50
"""The most turns that a history holds, however many tokens it may take."""


def messages_of(turn: Turn) -> "list[BaseMessage]":
    """The question and the answer, "" where there is none.

    What the answer cites stands in its `additional_kwargs`, as `chains.history.last_citations`
    reads it; citations that were not verified are left out.
    """
    from langchain_core.messages import AIMessage, HumanMessage

    cited = [_annotation(one) for one in turn.citations if one.state is CitationState.VERIFIED]
    answer = AIMessage(turn.answer, additional_kwargs={"citations": cited})
    return [HumanMessage(turn.question), answer]


def _annotation(citation: Citation) -> "content.Citation":
    return {
        "type": "citation",
        "title": citation.title,
        "cited_text": citation.quote,
        "extras": {
            "n": citation.n,
            "document_id": citation.document_id,
            "heading_path": list(citation.heading_path),
        },
    }
