"""Passages found for a follow-up, those of the documents cited before a little earlier."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from chains.history import last_citations
from chains.leaning import leans_on_history

PLACES_AHEAD = 1
"""So many places a passage of such a document moves up at most: a hint, no filter."""


def prefer_cited(documents: Sequence[Document], inputs: Mapping[str, Any]) -> list[Document]:
    """The documents, best first, with those that the last answer cited moved up.

    They are known by the `document_id` in their metadata; nothing else of a document changes. A
    question that stands alone, or that a person worded so, may be about something else: for it
    the order stays.

    Args:
        documents: What was found, best first.
        inputs: Of the chain: `question`, `chat_history` and perhaps `standalone_question`.
    """
    if inputs.get("standalone_question") or not leans_on_history(inputs["question"]):
        return list(documents)
    citations = last_citations(inputs["chat_history"])
    cited = {citation.get("extras", {}).get("document_id") for citation in citations} - {None}
    places = [
        # Half a place more, to stand before the passage whose place it takes.
        place - (PLACES_AHEAD + 0.5) * (document.metadata.get("document_id") in cited)
        for place, document in enumerate(documents)
    ]
    return [documents[n] for n in sorted(range(len(documents)), key=places.__getitem__)]
