"""Answering questions in conversations: the one use case behind page, command line and API."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from domain import Principal, SearchChoice, Turn, TurnState
from errors import NotFoundError
from services.answerers import AnswererChoice
from services.answering import Answering
from services.events import Answered, Event, Started, turn_of
from services.questions import checked_question, require_possible_k, title_of
from services.turn_messages import HISTORY_TURNS, messages_of
from storage.conversations import Conversations
from storage.documents import Documents
from storage.turn_tree import LATEST

if TYPE_CHECKING:  # slow, and opening the page does not need it
    from langchain_core.runnables import Runnable

    from chains.history import History

MakeChain = Callable[[Principal, SearchChoice, str], "Runnable[dict[str, Any], dict[str, Any]]"]
"""The chain, or the agent, for a question in the conversation of that id ("" for in none)."""


class ChatService:
    """Asks questions in conversations and keeps every turn with its evidence.

    A conversation is a tree: asking again, in other words or searching for something else adds a
    version of a turn beside it, and the branch of the newest one is shown.
    """

    def __init__(
        self,
        conversations: Conversations,
        documents: Documents,
        make_chain: MakeChain,
        answerers: AnswererChoice,
        default_search: SearchChoice = SearchChoice(),  # noqa: B008  # it is frozen
    ) -> None:
        """Args are kept, nothing is opened.

        `answerers` tell what answers are signed with, `default_search` is what the settings say.
        """
        self.answerers = answerers
        self.default_search = default_search
        self._conversations = conversations
        self._documents = documents
        self._make_chain = make_chain

    @property
    def model_label(self) -> str:
        """What an answer is signed with now; waits for nothing."""
        return self.answerers.current().label

    def stream(
        self,
        principal: Principal,
        question: str,
        conversation_id: str | None = None,
        *,
        search: SearchChoice | None = None,
        parent_id: str | None = LATEST,
        standalone: str | None = None,
    ) -> Generator[Event, None, None]:
        """Answer a question step by step; without a conversation a new one begins.

        The question is stored before anything else happens. However the answer ends (an error,
        a stop by closing this iterator), what was written until then is stored with its
        sources and its checked citations.

        Args:
            principal: Who asks.
            question: As it was typed.
            conversation_id: The conversation to ask in.
            search: How to search, which a new conversation remembers; as it remembers if None.
            parent_id: The turn that the question follows, None for the beginning; the last one
                shown if not told. Only that turn's branch is the history.
            standalone: Searched as it is, in place of the question condensed with its history.

        Raises:
            InputError: The question is empty, too long or no text, or the search can't be done.
            NotFoundError: The person has no such conversation, or it has no such parent.
            ModelError: The model failed; the turn says so.
        """
        asked = checked_question(question)
        given = "" if standalone is None else checked_question(standalone)
        require_possible_k(search.k if search else None)
        kept, default = self._conversations, self.default_search
        if conversation_id is None:
            filled, title = (search or SearchChoice()).filled_in(default), title_of(asked)
            turn = kept.start_first_turn(
                principal, title, asked, parent_id=parent_id, remembered=search, search=filled
            )
        else:
            filled = (search or kept.get(principal, conversation_id).search).filled_in(default)
            turn = kept.start_turn(
                principal, conversation_id, asked, parent_id=parent_id, search=filled
            )
        turn = replace(turn, standalone_question=given, standalone_given=bool(given))
        yield from self._answer(principal, replace(turn, model=self.model_label))

    def _answer(self, principal: Principal, turn: Turn) -> Generator[Event, None, None]:
        answering = Answering(turn, self._text_of)
        try:
            yield Started(turn)
            history = self._history(principal, turn) if turn.parent_id else []
            yield from self._events(principal, answering, history)
        except GeneratorExit:
            answering.end(TurnState.STOPPED)
            raise
        except BaseException as error:
            answering.fail(error)
            raise
        finally:
            self._conversations.finish_turn(principal, answering.turn)
        yield Answered(answering.turn)

    def _events(
        self, principal: Principal, answering: Answering, history: "History"
    ) -> Iterator[Event]:
        turn = answering.turn
        chain = self._make_chain(principal, turn.search, turn.conversation_id)
        yield from answering.run(chain, history)

    def ask_again(
        self,
        principal: Principal,
        conversation_id: str,
        turn_id: str,
        *,
        question: str | None = None,
        standalone: str | None = None,
        search: SearchChoice | None = None,
    ) -> Generator[Event, None, None]:
        """Answer beside a turn, in its place; what followed that one stays with it.

        Args:
            principal: Who asks.
            conversation_id: The conversation of the turn.
            turn_id: The turn that gets another version.
            question: Asked in place of the turn's own.
            standalone: Searched as it is. Where neither is told, one that the turn was given is;
                not by an agent, which words its searches itself.
            search: How to search; as the turn was searched if None.

        Raises:
            NotFoundError: The person has no such conversation, or it has no such turn.
        """
        turn = self._conversations.turn(principal, conversation_id, turn_id)
        search = search or turn.search
        if question is None and standalone is None and not search.by_agent:
            standalone = turn.standalone_question if turn.standalone_given else None
        return self.stream(
            principal,
            turn.question if question is None else question,
            conversation_id,
            search=search,
            parent_id=turn.parent_id,
            standalone=standalone,
        )

    def replay(self, principal: Principal, turn: Turn) -> Turn:
        """The turn as it would be answered now, searched for the same; nothing is kept.

        Raises:
            NotFoundError: The person has no such conversation.
            InputError: It was searched in a source that is not there any more.
            ModelError: The model failed.
        """
        again = Turn(
            turn.id,
            turn.conversation_id,
            turn.question,
            TurnState.RUNNING,
            datetime.now(UTC),
            turn.standalone_question,
            bool(turn.standalone_question),
            model=self.model_label,
            parent_id=turn.parent_id,
            search=turn.search,
        )
        answering = Answering(again, self._text_of)
        for _ in self._events(principal, answering, self._history(principal, turn)):
            pass
        return answering.turn

    def answer(
        self,
        principal: Principal,
        question: str,
        history: Sequence[tuple[str, str]] = (),
        *,
        search: SearchChoice | None = None,
        conversation_id: str = "",
    ) -> Generator[Event, None, None]:
        """Answer a question step by step; nothing is kept.

        The events are those of `stream` without the first.

        Args:
            principal: Who asks.
            question: As it was typed.
            history: The questions and answers before it, the oldest first.
            search: How to search; as the settings say if None.
            conversation_id: The conversation whose own files are searched as well.

        Raises:
            InputError: The question is empty, too long or no text, or the search can't be done.
            NotFoundError: The person has no such conversation.
            ModelError: The model failed.
        """
        require_possible_k(search.k if search else None)
        if conversation_id:
            self._conversations.get(principal, conversation_id)
        turn = Turn(
            id="",
            conversation_id=conversation_id,
            question=checked_question(question),
            state=TurnState.RUNNING,
            created_at=datetime.now(UTC),
            model=self.model_label,
            search=(search or SearchChoice()).filled_in(self.default_search),
        )
        answering = Answering(turn, self._text_of)
        yield from self._events(principal, answering, list(history)[-HISTORY_TURNS:])
        yield Answered(answering.turn)

    def ask(
        self,
        principal: Principal,
        question: str,
        conversation_id: str | None = None,
        search: SearchChoice | None = None,
    ) -> Turn:
        """Answer a question and return the whole turn; raises what `stream` raises."""
        return turn_of(self.stream(principal, question, conversation_id, search=search))

    def _history(self, principal: Principal, turn: Turn) -> "History":
        turns = self._conversations.turns(
            principal, turn.conversation_id, until=turn.parent_id, latest=HISTORY_TURNS
        )
        return [message for turn in turns for message in messages_of(turn)]

    def _text_of(self, document_id: str) -> str | None:
        try:
            return self._documents.text(document_id)
        except NotFoundError:
            return None
