"""What each tool takes, described for the model."""

from pydantic import BaseModel, ConfigDict, Field

from domain import SearchMode
from services.questions import MAX_QUESTION_CHARS

MAX_K = 20
MAX_START = 10**9 - 1
"""Behind the end of every document, and what the database can still count to."""

NOT_BLANK = r"\S"
"""The pattern of a text that has more than blanks."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchArguments(_Arguments):
    """What `search_documents` takes."""

    query: str = Field(
        pattern=NOT_BLANK,
        max_length=MAX_QUESTION_CHARS,
        description="What to look for, as a question or as words that a document would use",
    )
    k: int = Field(5, ge=1, le=MAX_K, description="How many passages to return at most")
    mode: SearchMode | None = Field(
        None,
        description="How to search; leave it out unless asked for: similarity finds meaning, bm25 "
        "exact words such as names and codes, mmr different passages, convex both",
    )


class QuestionArguments(_Arguments):
    """What `ask_documents` takes."""

    question: str = Field(
        pattern=NOT_BLANK,
        max_length=MAX_QUESTION_CHARS,
        description="One whole question that can be understood without the conversation",
    )


class DocumentArguments(_Arguments):
    """What `open_document` takes."""

    document_id: str = Field(
        pattern=NOT_BLANK, description="The document_id of a source, exactly as it was listed"
    )
    start: int = Field(
        0, ge=0, le=MAX_START, description="The character of the document to read on from"
    )


class NoArguments(_Arguments):
    """What `list_sources` takes."""
