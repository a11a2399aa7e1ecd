"""The services as LangChain tools: what they tell the model, and what programs read beside it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from typing import Any, Literal, Protocol

from langchain_core.documents import Document
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel

from agent.failures import failed, telling_failures, wrong_arguments
from agent.numbering import SourceNumbers
from agent.tool_arguments import (
    DocumentArguments,
    NoArguments,
    QuestionArguments,
    SearchArguments,
)
from agent.tool_texts import (
    NumberedAnswer,
    Told,
    answer_told,
    artifact,
    numbered_answer,
    passages_told,
    plain_answer,
    sources_told,
)
from domain import LOCAL_USER, Principal, SearchChoice, SearchMode
from services.chat import ChatService
from services.conversations import ConversationService
from services.events import turn_of
from services.reader import DocumentReader
from services.search import SearchService
from services.sources import SourceService

PASSAGES_A_CALL = 8
NUMBERS_STAY = "The numbers of passages stay the same in later calls."


class ToolServices(Protocol):
    """What the tools need; `bootstrap.Services` has it."""

    @property
    def search(self) -> SearchService:
        """Finds passages."""

    @property
    def chat(self) -> ChatService:
        """Answers questions."""

    @property
    def conversations(self) -> ConversationService:
        """Knows whose conversation it is."""

    @property
    def reader(self) -> DocumentReader:
        """Reads documents."""

    @property
    def sources(self) -> SourceService:
        """Lists the sources."""


def document_tools(
    services: ToolServices,
    principal: Principal = LOCAL_USER,
    *,
    search: SearchChoice = SearchChoice(),  # noqa: B008  # it is frozen
    conversation_id: str = "",
    numbers: SourceNumbers | None = None,
    on_numbers: str = NUMBERS_STAY,
) -> list[BaseTool]:
    """`search_documents`, `ask_documents`, `open_document` and `list_sources`, in this order.

    Content is numbered text with a "Sources:" list, the artifact `{"documents": [Document, ...],
    "numbers": [their numbers], "citations": [the verified ones as JSON values]}`. What goes wrong
    is a message with status "error" that begins with "Failed: ", and no artifact.

    Args:
        services: What does the work.
        principal: For whom.
        search: What the tools search in, and in which mode where the model does not say; its `k`
            is for `ask_documents`, a search takes the model's or 5.
        conversation_id: The conversation whose own files are searched as well.
        numbers: Those of the conversation, so that its tools share them; new ones if None.
        on_numbers: What the model is told of how long they hold.

    Raises:
        NotFoundError: The person has no such conversation.
    """
    if conversation_id:
        services.conversations.get(principal, conversation_id)
    tools = _Tools(services, principal, search, conversation_id, numbers or SourceNumbers())
    return [
        _tool(tools.search_documents, SearchArguments, more=on_numbers),
        _tool(tools.ask_documents, QuestionArguments, more=on_numbers),
        _tool(tools.open_document, DocumentArguments, more=on_numbers),
        _tool(tools.list_sources, NoArguments),
    ]


def answer_tool(
    services: ToolServices,
    principal: Principal = LOCAL_USER,
    *,
    search: SearchChoice = SearchChoice(),  # noqa: B008  # it is frozen
) -> BaseTool:
    """The tool `ask_documents` whose plain text is the agent's last word (`return_direct`).

    The text is the answer, then `Sources:` and one source a line, numbered from 1.
    """

    def ask_documents(question: str) -> str:
        """Answer a question from the documents of the library.

        Use it whenever the question may be answered by the organisation's own documents. The
        answer ends with the sources that it cites by their numbers.
        """
        return plain_answer(_Tools(services, principal, search).answer(question))

    return _tool(ask_documents, QuestionArguments, "content", return_direct=True)


@dataclass(frozen=True)
class _Tools:
    """The tools' work for one person and conversation; the docstrings are for the model."""

    services: ToolServices
    principal: Principal
    choice: SearchChoice
    conversation_id: str = ""
    numbers: SourceNumbers = field(default_factory=SourceNumbers)

    def search_documents(self, query: str, k: int = 5, mode: SearchMode | None = None) -> Told:
        """Search the library for passages about something.

        Use it first for every question that documents may answer, and again with other words
        where the first passages do not answer it. Returns at most k numbered passages, the best
        first, as "[n] title (page) headings" with their exact text, then "Sources:" with each
        one's place, document_id and start. Cite a passage by its number. A number that a document
        itself has in brackets is written with others: ⟦7⟧. A passage may be cut at either end: read
        on with open_document.
        """
        search, choice = self.services.search, self.choice
        found = search.search(
            self.principal,
            query,
            mode=mode or choice.mode,
            k=k,
            condition=search.condition(self.principal, choice.scope),
            score_threshold=choice.score_threshold,
            conversation_id=self.conversation_id,
        )
        return passages_told(found, self.numbers)

    def ask_documents(self, question: str) -> Told:
        """Have one whole question answered from the library, with checked citations.

        Use it for a question that can be answered by itself; for a question in several parts, call
        it once for each. It knows nothing of the conversation. Returns a short answer with source
        numbers in brackets, then the passages that it cites. It is slower than search_documents,
        which shows more of what there is.
        """
        return answer_told(self.answer(question))

    def open_document(self, document_id: str, start: int = 0) -> Told:
        """Read a document passage by passage, from its beginning or from a character on.

        Use it where a passage that was found is cut off or needs what stands around it: give the
        document_id of its source and, as start, a little less than the start that was listed.
        Returns numbered passages in the order of the document, and with which start to read on.
        """
        read = self.services.reader.passages(
            self.principal, document_id, start, PASSAGES_A_CALL + 1
        )
        if not read:
            return f"The document has no text behind character {start}.", artifact()
        content, beside = passages_told(read[:PASSAGES_A_CALL], self.numbers)
        return f"{content}\n\n{_how_to_read_on(read)}", beside

    def list_sources(self) -> Told:
        """List what the library holds: its sources, their kinds and how many documents each has.

        Use it where somebody asks what there is, or where searching finds nothing. Returns one
        line a source, no text of documents and nothing to cite.
        """
        seen = self.services.sources.list(self.principal)
        return sources_told(
            [one for one in seen if one.source.conversation_id in ("", self.conversation_id)]
        )

    def answer(self, question: str) -> NumberedAnswer:
        """The chain's answer, its markers the conversation's numbers."""
        told = self.services.chat.answer(
            self.principal,
            question,
            search=replace(self.choice, by_agent=False),
            conversation_id=self.conversation_id,
        )
        return numbered_answer(turn_of(told), self.numbers)


def _how_to_read_on(read: list[Document]) -> str:
    if len(read) <= PASSAGES_A_CALL:
        return "The document ends here."
    return f"There is more: call open_document with start={read[-2].metadata['end']}."


def _tool(
    work: Callable[..., Any],
    arguments: type[BaseModel],
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact",
    *,
    return_direct: bool = False,
    more: str = "",
) -> BaseTool:
    return StructuredTool.from_function(
        telling_failures(work),
        name=work.__name__,
        description="\n\n".join(filter(None, (cleandoc(work.__doc__ or ""), more))),
        args_schema=arguments,
        response_format=response_format,
        return_direct=return_direct,
        handle_tool_error=failed,
        handle_validation_error=wrong_arguments,
    )
