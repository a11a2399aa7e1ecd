"""Why a passage was found, from what its retriever noted on it."""

from typing import TYPE_CHECKING

from domain import Explanation, Filter, Move, ScorePart
from language.matches import matched_words
from services.indexing import searchable_text

if TYPE_CHECKING:  # slow, and opening the chat page needs none of it
    from langchain_core.documents import Document


def explain(question: str, found: "Document", condition: Filter | None = None) -> Explanation:
    """The explanation of a document that `SearchService.search` gave for the question."""
    noted = found.metadata
    text = searchable_text(noted["title"], noted["heading_path"], found.page_content)
    return Explanation(
        score=noted["score"],
        parts=tuple(ScorePart(**part) for part in noted["parts"]),
        matched_words=tuple(matched_words(question, text)),
        move=Move(**noted["rerank"]) if "rerank" in noted else None,
        condition=condition or {},
    )
