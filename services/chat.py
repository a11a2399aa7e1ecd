"""Answering questions in conversations: the one use case behind page, command line and API."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain import Conversation, Principal, SearchChoice, SearchMode, Turn, TurnState
from errors import NotFoundError
from services.answering import Answering
from services.events import Answered, Event, Started
from services.questions import checked_question, require_possible_k, title_of
from storage.conversations import Conversations
from storage.documents import Documents
from storage.turn_tree import LATEST

if TYPE_CHECKING:  # slow, and opening the page does not need it
    from chains.conversational_retrieval import ConversationalRetrievalChain

HISTORY_TURNS = 50
"""No earlier turns are condensed with, however many tokens a history may take."""

MakeChain = Callable[[Principal, SearchChoice, str], "ConversationalRetrievalChain"]
"""The chain for a question in the conversation of that id, over the index that answers now."""


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
        model_label: str,
        default_search: SearchChoice = SearchChoice(),  # noqa: B008  # it is frozen
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            conversations: Where turns are stored.
            documents: The texts that quotes are looked up in.
            make_chain: Makes the chain for each question.
            model_label: What answers are signed with.
            default_search: What the settings say.
        """
        self.model_label = model_label
        self.default_search = default_search
        self._conversations = conversations
        self._documents = documents
        self._make_chain = make_chain

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
            search: How to search; as the conversation remembers if None. A conversation that
                begins with it remembers it.
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
        if conversation_id is None:
            conversation = self._conversations.create(principal, title_of(asked), search)
        else:
            conversation = self._conversations.get(principal, conversation_id)
        turn = self._conversations.start_turn(
            principal,
            conversation.id,
            asked,
            parent_id=parent_id,
            search=self._filled_in(search or conversation.search),
        )
        turn = replace(turn, standalone_question=given, standalone_given=bool(given))
        yield from self._answer(principal, replace(turn, model=self.model_label))

    def _answer(self, principal: Principal, turn: Turn) -> Generator[Event, None, None]:
        answering = Answering(turn, self._text_of)
        try:
            yield Started(turn)
            yield from self._events(principal, answering)
        except GeneratorExit:
            answering.end(TurnState.STOPPED)
            raise
        except BaseException as error:
            answering.fail(error)
            raise
        finally:
            self._conversations.finish_turn(principal, answering.turn)
        yield Answered(answering.turn)

    def _events(self, principal: Principal, answering: Answering) -> Iterator[Event]:
        turn = answering.turn
        chain = self._make_chain(principal, turn.search, turn.conversation_id)
        yield from answering.run(chain, self._history(principal, turn))

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
            standalone: Searched as it is. Where neither is told, one that the turn was given is.
            search: How to search; as the turn was searched if None.

        Raises:
            NotFoundError: The person has no such conversation, or it has no such turn.
        """
        turn = self._conversations.turn(principal, conversation_id, turn_id)
        if question is None and standalone is None and turn.standalone_given:
            standalone = turn.standalone_question
        return self.stream(
            principal,
            turn.question if question is None else question,
            conversation_id,
            search=search or turn.search,
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
        searched = turn.standalone_question
        again = Turn(
            turn.id,
            turn.conversation_id,
            turn.question,
            TurnState.RUNNING,
            datetime.now(UTC),
            searched,
            bool(searched),
            model=self.model_label,
            parent_id=turn.parent_id,
            search=turn.search,
        )
        answering = Answering(again, self._text_of)
        for _ in self._events(principal, answering):
            pass
        return answering.turn

    def ask(
        self,
        principal: Principal,
        question: str,
        conversation_id: str | None = None,
        search: SearchChoice | None = None,
    ) -> Turn:
        """Answer a question and return the whole turn; raises what `stream` raises."""
        for event in self.stream(principal, question, conversation_id, search=search):
            if isinstance(event, Answered):
                return event.turn
        raise AssertionError("a stream that does not raise ends with Answered")

    def conversation(self, principal: Principal, conversation_id: str) -> Conversation:
        """The conversation itself; raises NotFoundError where the person has no such one."""
        return self._conversations.get(principal, conversation_id)

    def turns(self, principal: Principal, conversation_id: str) -> list[Turn]:
        """The turns of the branch that is shown, from the first question on.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        return self._conversations.turns(principal, conversation_id)

    def versions(self, principal: Principal, conversation_id: str) -> Mapping[str, tuple[str, ...]]:
        """For each turn of all branches the ids of its versions, itself among them, oldest first.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        return self._conversations.versions(principal, conversation_id)

    def show(self, principal: Principal, conversation_id: str, turn_id: str) -> None:
        """Show the branch of that version from now on, down to the newest turn that came of it.

        Raises:
            NotFoundError: The person has no such conversation, or it has no such turn.
        """
        self._conversations.show(principal, conversation_id, turn_id)

    def _filled_in(self, chosen: SearchChoice) -> SearchChoice:
        """The choice with the settings' for what it leaves open; a threshold has one mode only."""
        default = self.default_search
        mode = chosen.mode or default.mode
        k = default.k if chosen.k is None else chosen.k
        if mode is not SearchMode.SIMILARITY_SCORE_THRESHOLD:
            return SearchChoice(chosen.scope, mode, k)
        told = chosen.score_threshold
        return SearchChoice(
            chosen.scope, mode, k, default.score_threshold if told is None else told
        )

    def _history(self, principal: Principal, turn: Turn) -> list[tuple[str, str]]:
        turns = self._conversations.turns(
            principal, turn.conversation_id, until=turn.parent_id, latest=HISTORY_TURNS
        )
        return [(turn.question, turn.answer) for turn in turns if turn.answer]

    def _text_of(self, document_id: str) -> str | None:
        try:
            return self._documents.text(document_id)
        except NotFoundError:
            return None
