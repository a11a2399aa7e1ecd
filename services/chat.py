"""Answering questions in conversations: the one use case behind page, command line and API."""

import re
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from chains.citations import check_answer, shown_text
from chains.markers import MarkerParser
from domain import Conversation, FoundPassage, Principal, Source, Turn, TurnState
from errors import AppError, InputError, NotFoundError
from services.events import Answered, Event, Found, Searching, Started, Written
from services.explain import explain
from storage.conversations import Conversations
from storage.documents import Documents

if TYPE_CHECKING:  # slow, and opening the page needs neither
    from langchain_core.documents import Document

    from chains.conversational_retrieval import ConversationalRetrievalChain

MAX_QUESTION_CHARS = 20_000
TITLE_CHARS = 60
HISTORY_TURNS = 50
"""No earlier turns are condensed with, however many tokens a history may take."""
CUT_SHORT = (
    "The model stopped at the longest answer it may give: raise FOOTNOTE_CHAT_MAX_TOKENS or the "
    "server's own limit, or ask for less at once."
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class ChatService:
    """Asks questions in conversations and keeps every turn with its evidence."""

    def __init__(
        self,
        conversations: Conversations,
        documents: Documents,
        make_chain: Callable[[Principal], "ConversationalRetrievalChain"],
        model_label: str,
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            conversations: Where turns are stored.
            documents: The texts that quotes are looked up in.
            make_chain: The chain for one question of that person, over the index that answers
                now.
            model_label: What answers are signed with.
        """
        self.model_label = model_label
        self._conversations = conversations
        self._documents = documents
        self._make_chain = make_chain

    def stream(
        self, principal: Principal, question: str, conversation_id: str | None = None
    ) -> Generator[Event, None, None]:
        """Answer a question step by step; without a conversation a new one begins.

        The question is stored before anything else happens. However the answer ends (an error,
        a stop by closing this iterator), what was written until then is stored with its
        sources and its checked citations.

        Raises:
            InputError: The question is empty, too long or no text.
            NotFoundError: The person has no such conversation.
            ModelError: The model failed; the turn says so.
        """
        asked = _checked_question(question)
        if conversation_id is None:
            conversation_id = self._conversations.create(principal, _title(asked)).id
        history = self._history(principal, conversation_id)
        turn = self._conversations.start_turn(principal, conversation_id, asked)
        answering = _Answering(replace(turn, model=self.model_label), self._text_of)
        try:
            yield Started(answering.turn)
            yield from answering.run(self._make_chain(principal), history)
        except GeneratorExit:
            answering.end(TurnState.STOPPED)
            raise
        except BaseException as error:
            answering.fail(error)
            raise
        finally:
            self._conversations.finish_turn(principal, answering.turn)
        yield Answered(answering.turn)

    def ask(self, principal: Principal, question: str, conversation_id: str | None = None) -> Turn:
        """Answer a question and return the whole turn; raises what `stream` raises."""
        for event in self.stream(principal, question, conversation_id):
            if isinstance(event, Answered):
                return event.turn
        raise AssertionError("a stream that does not raise ends with Answered")

    def conversations(self, principal: Principal, limit: int = 50) -> list[Conversation]:
        """The person's conversations, the latest first."""
        return self._conversations.list(principal, limit=limit)

    def turns(self, principal: Principal, conversation_id: str) -> list[Turn]:
        """The turns of a conversation, oldest first.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        return self._conversations.turns(principal, conversation_id)

    def _history(self, principal: Principal, conversation_id: str) -> list[tuple[str, str]]:
        turns = self._conversations.turns(principal, conversation_id, latest=HISTORY_TURNS)
        return [(turn.question, turn.answer) for turn in turns if turn.answer]

    def _text_of(self, document_id: str) -> str | None:
        try:
            return self._documents.text(document_id)
        except NotFoundError:
            return None


@dataclass
class _Answering:
    """One question being answered; `turn` is true at every moment."""

    turn: Turn
    text_of: Callable[[str], str | None]
    raw: str = ""
    started: float = field(default_factory=time.monotonic)

    def run(
        self, chain: "ConversationalRetrievalChain", history: list[tuple[str, str]]
    ) -> Iterator[Event]:
        from chains.rewrite_guard import as_one_question  # slow, as above

        markers = MarkerParser()
        state = TurnState.COMPLETE
        for piece in chain.stream({"question": self.turn.question, "chat_history": history}):
            if "searched_questions" in piece:
                searched = as_one_question(piece["searched_questions"])
                self._know(standalone_question=_storable(searched))
                yield Searching(self.turn.standalone_question)
            if "source_documents" in piece:
                self._know(sources=self._numbered(piece["source_documents"]))
                self._time("found")
                yield Found(self.turn.sources)
            if answer := _storable(piece.get("answer", "")):
                self.raw += answer
                self._time("first_token")
                yield from _written(shown_text(markers.feed(answer)))
            if "answer_message" in piece:
                self._know(usage=_usage(piece["answer_message"]))
                if _is_cut_short(piece["answer_message"]):
                    state = TurnState.INCOMPLETE
                    self._know(error=CUT_SHORT)
        yield from _written(shown_text(markers.close()))
        self.end(state)

    def _numbered(self, documents: list["Document"]) -> tuple[Source, ...]:
        question = self.turn.standalone_question
        return tuple(_source(n, question, found) for n, found in enumerate(documents, start=1))

    def fail(self, error: BaseException) -> None:
        """Keep what was written, and why no more came."""
        told = str(error) if isinstance(error, AppError) else "an unexpected error"
        stopped = not isinstance(error, Exception)  # Ctrl-C, or the page was stopped
        written = TurnState.INCOMPLETE if self.raw else TurnState.FAILED
        self._know(error="" if stopped else told)
        self.end(TurnState.STOPPED if stopped else written)

    def end(self, state: TurnState) -> None:
        """Check what was written and settle the turn."""
        checked = check_answer(self.raw, self.turn.sources, self.text_of)
        self._time("total")
        self._know(
            state=state,
            answer=checked.text,
            citations=checked.citations,
            unsupported_sentences=checked.unsupported_sentences,
        )

    def _know(self, **changes: Any) -> None:
        self.turn = replace(self.turn, **changes)

    def _time(self, moment: str) -> None:
        elapsed_ms = round(1000 * (time.monotonic() - self.started), 1)
        self._know(timings_ms={moment: elapsed_ms} | dict(self.turn.timings_ms))


def _storable(text: str) -> str:
    """Half a character, which a careless server sends, can be stored nowhere."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _is_cut_short(message: Any) -> bool:
    return bool(message.response_metadata.get("finish_reason") == "length")


def _written(text: str) -> Iterator[Event]:
    if text:
        yield Written(text)


def _checked_question(question: str) -> str:
    asked = question.strip()
    if not asked:
        raise InputError("The question is empty: type what you want to know.")
    if len(asked) > MAX_QUESTION_CHARS:
        raise InputError(
            f"The question has {len(asked):,} characters, the most is {MAX_QUESTION_CHARS:,}: "
            "shorten it, or save the text as a file, import it and ask about it."
        )
    if asked != asked.encode(errors="replace").decode():
        raise InputError("The question holds bytes that are no letters: type it again in UTF-8.")
    return asked


def _title(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def _source(n: int, question: str, document: "Document") -> Source:
    known = document.metadata
    return Source(
        n=n,
        passage_id=document.id or "",
        document_id=known["document_id"],
        title=known["title"],
        location=known["location"],
        text=document.page_content,
        version=known["version"],
        page=known["page"],
        heading_path=tuple(known["heading_path"]),
        score=known.get("score"),
        start=known["start"],
        why=explain(question, document) if "parts" in known else None,
        hits=tuple(FoundPassage(**hit) for hit in known.get("window", ())),
    )


def _usage(message: Any) -> dict[str, int]:
    usage = message.usage_metadata or {}
    return {name: usage[name] for name in ("input_tokens", "output_tokens") if name in usage}
