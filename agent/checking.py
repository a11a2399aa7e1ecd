"""Checks the citations of an answer that one's own agent has written from the tools' sources."""

from collections.abc import Sequence

from langchain_core.documents import Document

from agent.tools import ToolServices
from chains.citations import CheckedAnswer, check_answer
from domain import LOCAL_USER, Principal
from errors import NotFoundError
from services.answering import numbered_source


def checked_answer(
    services: ToolServices,
    answer: str,
    documents: Sequence[Document],
    principal: Principal = LOCAL_USER,
) -> CheckedAnswer:
    """The answer as it is shown, and each of its citations checked as those of the chat are.

    Args:
        services: What reads the stored documents.
        answer: With markers such as `[1]` or `[1: "the source's own words"]`.
        documents: What the model was shown; number n is at place n - 1, as in the artifacts of the
            tools, or in `SourceNumbers.documents`.
        principal: For whom.
    """
    sources = [numbered_source(n, "", document) for n, document in enumerate(documents, start=1)]

    def text_of(document_id: str) -> str | None:
        try:
            return services.reader.text(principal, document_id)
        except NotFoundError:
            return None

    return check_answer(answer, sources, text_of)
