"""The services as LangChain tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import cleandoc
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from langchain_core.documents import Document
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.v1 import ValidationError as OldValidationError

from domain import Principal, SearchChoice, SearchMode
from domain.errors import AppError, NotFoundError
from domain.logs import get_logger
from domain.messages import _
from domain.public_messages import message_for_everyone
from services.agent.tool_results import (
    NumberedAnswer,
    SourceNumbers,
    ToolOutput,
    answer_output,
    answer_with_sources,
    artifact,
    numbered_answer,
    passages_output,
    sources_output,
)
from services.chat.chat_service import ChatService, turn_of
from services.chat.conversation_service import ConversationService
from services.library.reader_service import DocumentReader
from services.search.search_service import SearchService
from services.sources.source_service import SourceService
from services.texts import MAX_QUESTION_CHARS

MAX_K = 20
MAX_START = 10**9 - 1
"""Beyond the end of every document, and still a valid integer in the database."""

NOT_BLANK = r"\S"
"""The pattern of text that is not blank."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchArguments(_Arguments):
    """Arguments of `search_documents`."""

    query: str = Field(
        pattern=NOT_BLANK,
        max_length=MAX_QUESTION_CHARS,
        description="What to look for, as a question or as words that a document would use",
    )
    k: int = Field(5, ge=1, le=MAX_K, description="Maximum number of passages to return")
    mode: SearchMode | None = Field(
        None,
        description="How to search; leave it out unless asked for: similarity finds meaning, bm25 "
        "exact words such as names and codes, mmr different passages, convex both",
    )


class QuestionArguments(_Arguments):
    """Arguments of `ask_documents`."""

    question: str = Field(
        pattern=NOT_BLANK,
        max_length=MAX_QUESTION_CHARS,
        description="One whole question that can be understood without the conversation",
    )


class DocumentArguments(_Arguments):
    """Arguments of `open_document`."""

    document_id: str = Field(
        pattern=NOT_BLANK, description="The document_id of a source, exactly as it was listed"
    )
    start: int = Field(
        0, ge=0, le=MAX_START, description="Character offset in the document to continue from"
    )


class NoArguments(_Arguments):
    """Arguments of `list_sources`."""


P = ParamSpec("P")
R = TypeVar("R")

_log = get_logger("agent")


def with_tool_errors(work: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that it raises only ToolException, with a message for the model.

    Unexpected errors are logged.
    """

    @wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        except Exception as error:
            raise ToolException(reason_of(error, work.__name__)) from error

    return guarded


def reason_of(error: Exception, tool: str) -> str:
    """The message for the model; an unexpected error is logged, and only its class is named."""
    if isinstance(error, AppError):
        return message_for_everyone(error)
    if isinstance(error, ToolException):
        return str(error)
    _log.error("tool failed", tool=tool, exc_info=error)
    return f"{tool} failed with an unexpected error ({type(error).__name__}); see the log."


def failure_text(reason: object) -> str:
    """The text of a tool message with status "error"."""
    return f"Failed: {reason}"


def wrong_arguments(error: ValidationError | OldValidationError) -> str:
    """The text of a tool message for invalid arguments."""
    problems = "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {_problem_text(one)}"
        for one in error.errors()
    )
    return failure_text(
        _("{problems}. Call the tool again with other arguments.").format(problems=problems)
    )


def _problem_text(problem: Any) -> str:
    is_blank = problem.get("ctx", {}).get("pattern") == NOT_BLANK
    return _("It is empty or blank") if is_blank else str(problem["msg"])


OUT_OF_SCOPE = _("This document is outside the search scope of the question.")
PASSAGES_A_CALL = 8
NUMBERS_PERSIST = "The numbers of passages stay the same in later calls."


class ToolServices(Protocol):
    """The services that the tools need; `bootstrap.Services` has all of them."""

    @property
    def search(self) -> SearchService:
        """Finds passages."""

    @property
    def chat(self) -> ChatService:
        """Answers questions."""

    @property
    def conversations(self) -> ConversationService:
        """Checks the owner of a conversation."""

    @property
    def reader(self) -> DocumentReader:
        """Reads documents."""

    @property
    def sources(self) -> SourceService:
        """Lists the sources."""


def document_tools(
    services: ToolServices,
    principal: Principal,
    *,
    search: SearchChoice = SearchChoice(),  # noqa: B008  # immutable
    conversation_id: str = "",
    numbers: SourceNumbers | None = None,
    numbering_note: str = NUMBERS_PERSIST,
) -> list[BaseTool]:
    """`search_documents`, `ask_documents`, `open_document` and `list_sources`, in this order.

    The content is numbered text with a "Sources:" list, and the artifact `{"documents": [Document,
    ...], "numbers": [their numbers], "citations": [the verified ones as JSON values]}`. It may have
    a `basis`, too: ids of other documents and sources of which the content may tell. A failure is a
    message with status "error" that begins with "Failed: ", without an artifact.

    Args:
        services: The services that the tools call.
        principal: The user.
        search: The scope, and the mode if the model does not specify one. Its `k` applies to
            `ask_documents`; a search uses the model's `k`, or 5.
        conversation_id: A conversation whose files are searched too.
        numbers: The passage numbers that the tools of a conversation share; None starts from 1.
        numbering_note: Tells the model how long the numbers remain valid.

    Raises:
        NotFoundError: The user has no such conversation.
    """
    if conversation_id:
        services.conversations.get(principal, conversation_id)
    tools = _Tools(services, principal, search, conversation_id, numbers or SourceNumbers())
    return [
        _tool(tools.search_documents, SearchArguments, more=numbering_note),
        _tool(tools.ask_documents, QuestionArguments, more=numbering_note),
        _tool(tools.open_document, DocumentArguments, more=numbering_note),
        _tool(tools.list_sources, NoArguments),
    ]


def answer_tool(
    services: ToolServices,
    principal: Principal,
    *,
    search: SearchChoice = SearchChoice(),  # noqa: B008  # immutable
) -> BaseTool:
    """The tool `ask_documents` whose text is the agent's final answer (`return_direct`).

    The text is the answer, then `Sources:` and one numbered source per line, in Markdown in which
    HTML, links, and images are escaped.
    """

    def ask_documents(question: str) -> str:
        """Answer a question from the documents of the library.

        Use it whenever the organization's own documents may answer the question. The answer ends
        with the sources that it cites by their numbers.
        """
        return answer_with_sources(_Tools(services, principal, search).answer(question))

    return _tool(ask_documents, QuestionArguments, "content", return_direct=True)


@dataclass(frozen=True)
class _Tools:
    """The tools for one user and conversation; their docstrings are for the model."""

    services: ToolServices
    principal: Principal
    choice: SearchChoice
    conversation_id: str = ""
    numbers: SourceNumbers = field(default_factory=SourceNumbers)

    def search_documents(
        self, query: str, k: int = 5, mode: SearchMode | None = None
    ) -> ToolOutput:
        """Search the library for passages about a topic.

        Use it first for every question that documents may answer, and again with other words if the
        first passages do not answer it. Returns at most k numbered passages, best first, as "[n]
        title (page) headings" with their exact text, then "Sources:" with the location,
        document_id, and start of each. Cite a passage by its number. Numbers that a document itself
        has in brackets are shown in other brackets: ⟦7⟧. A passage may be cut at either end:
        continue with open_document.
        """
        search, choice = self.services.search, self.choice
        passages = search.search(
            self.principal,
            query,
            mode=mode or choice.mode,
            k=k,
            condition=search.condition(self.principal, choice.scope),
            score_threshold=choice.score_threshold,
            conversation_id=self.conversation_id,
        )
        return passages_output(passages, self.numbers)

    def ask_documents(self, question: str) -> ToolOutput:
        """Answer one complete question from the library, with checked citations.

        Use it for a question that can be understood on its own; for a question in several parts,
        call it once for each part. It does not see the conversation. Returns a short answer with
        source numbers in brackets, then the passages that it cites. It is slower than
        search_documents, which shows more passages.
        """
        return answer_output(self.answer(question))

    def open_document(self, document_id: str, start: int = 0) -> ToolOutput:
        """Read a document passage by passage, from its beginning or from a character offset.

        Use it if a passage is cut off or needs its context: pass the document_id of its source and,
        as start, a little less than its listed start. Returns numbered passages in the order of the
        document, and the start for the next call.
        """
        passages = self.services.reader.passages(
            self.principal, document_id, start, PASSAGES_A_CALL + 1
        )
        self._require_in_scope(document_id, passages)
        if not passages:
            return f"The document has no text after character {start}.", artifact()
        content, tool_artifact = passages_output(passages[:PASSAGES_A_CALL], self.numbers)
        return f"{content}\n\n{_continuation(passages)}", tool_artifact

    def list_sources(self) -> ToolOutput:
        """List the sources of the library with their kinds and numbers of documents.

        Use it if the user asks what the library contains, or if searches find nothing. Returns one
        line per source, without text of documents and without anything to cite.
        """
        statuses = self.services.sources.list(self.principal)
        return sources_output(
            [one for one in statuses if one.source.conversation_id in ("", self.conversation_id)]
        )

    def _require_in_scope(self, document_id: str, passages: Sequence[Document]) -> None:
        """Raise NotFoundError if a search for the question could not find the document.

        Otherwise, a document could tell the model to open others that the user left out.
        """
        search = self.services.search
        scope = search.condition(self.principal, self.choice.scope)
        condition = {**scope, "document_id": document_id}
        if len(search.matching(self.principal, passages, condition, self.conversation_id)) < len(
            passages
        ):
            raise NotFoundError(OUT_OF_SCOPE)

    def answer(self, question: str) -> NumberedAnswer:
        """The chain's answer with the numbers of the conversation in its markers."""
        events = self.services.chat.answer(
            self.principal,
            question,
            search=replace(self.choice, by_agent=False),
            conversation_id=self.conversation_id,
        )
        return numbered_answer(turn_of(events), self.numbers)


def _continuation(passages: list[Document]) -> str:
    if len(passages) <= PASSAGES_A_CALL:
        return "The document ends here."
    return f"There is more: call open_document with start={passages[-2].metadata['end']}."


def _tool(
    work: Callable[..., Any],
    arguments: type[BaseModel],
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact",
    *,
    return_direct: bool = False,
    more: str = "",
) -> BaseTool:
    return StructuredTool.from_function(
        with_tool_errors(work),
        name=work.__name__,
        description="\n\n".join(filter(None, (cleandoc(work.__doc__ or ""), more))),
        args_schema=arguments,
        response_format=response_format,
        return_direct=return_direct,
        handle_tool_error=failure_text,
        handle_validation_error=wrong_arguments,
    )
