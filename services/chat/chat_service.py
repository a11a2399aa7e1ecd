"""Answers questions in conversations, for the chat page, the `ask` command, and the API."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain import Citation, CitationState, Principal, SearchChoice, Turn, TurnState
from domain.errors import NotFoundError
from models.chat_choice import ChatModelChoice
from services.access import Access
from services.chat.chain_builder import AnswerBuilder
from services.chat.model_options import NO_OPTIONS, ModelOptions
from services.chat.running_answer import RunningAnswer
from services.chat.unstored_turns import UnstoredTurns
from services.chat.withheld_turns import readable_turns
from services.events import Event, TurnFinished, TurnStarted
from services.question_limit import QuestionLimit
from services.texts import checked_question, require_possible_k, title_of
from storage.ledger.conversation_store import LATEST, Conversations
from storage.ledger.document_store import Documents

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage, content

    from chains.history import History


HISTORY_TURNS = 50
"""The maximum number of turns in a history, regardless of their length."""


def messages_of(turn: Turn) -> "list[BaseMessage]":
    """The question and the answer, which is "" if there is none.

    The answer's `additional_kwargs` hold its verified citations in the form that
    `chains.history.last_citations` reads.
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


@dataclass(eq=False)
class ChatService:
    """Answers questions in conversations and stores every turn with its evidence.

    A conversation is a tree. Repeating or rewording a question, or changing its search, adds
    another version of the turn, and the branch of the newest version is displayed.

    `agents` answers if a search says `by_agent`, else `chains`. `answerers` names the current
    answerer; `default_search` is the one in the settings.
    """

    conversations: Conversations
    documents: Documents
    access: Access
    chains: AnswerBuilder
    agents: AnswerBuilder
    answerers: ChatModelChoice
    default_search: SearchChoice
    limit: QuestionLimit

    def __post_init__(self) -> None:
        """Start without unstored turns."""
        self._unstored = UnstoredTurns(self.conversations)

    @property
    def model_label(self) -> str:
        """The label of the current answerer, without waiting for a server."""
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
        """Answer a question and stream the events.

        The question is stored first. However the answer ends (by an error, or because this
        iterator is closed), the text so far is stored with its passages and checked citations. If
        that fails because the disk is full, it is stored before the next question.

        Args:
            principal: The user.
            question: The question as typed.
            conversation_id: None starts a new conversation.
            search: Search options, which a new conversation stores; None uses the stored ones.
            parent_id: The turn to follow, None for the beginning; by default the last displayed
                one. Only the branch of that turn is the history.
            standalone: Searched unchanged, instead of the question condensed with its history.

        Raises:
            InputError: The question is empty, too long, or not text, or the search is impossible.
            LimitError: The user asked too many questions within the last minute.
            NotFoundError: The user has no such conversation, or it has no such parent.
            ModelError: The model failed; the turn records it.
            StorageError: The disk is full or not writable.
        """
        question = checked_question(question)
        standalone = "" if standalone is None else checked_question(standalone)
        require_possible_k(search.k if search else None)
        self.limit.count(principal)
        self._unstored.store_rest()
        store, default = self.conversations, self.default_search
        if conversation_id is None:
            complete, title = (search or SearchChoice()).with_defaults(default), title_of(question)
            turn = store.start_first_turn(
                principal, title, question, parent_id=parent_id, remembered=search, search=complete
            )
        else:
            complete = (search or store.get(principal, conversation_id).search).with_defaults(
                default
            )
            turn = store.start_turn(
                principal, conversation_id, question, parent_id=parent_id, search=complete
            )
        turn = replace(turn, standalone_question=standalone, standalone_given=bool(standalone))
        yield from self._answer(principal, replace(turn, model=self.model_label))

    def _answer(self, principal: Principal, turn: Turn) -> Generator[Event, None, None]:
        answer = RunningAnswer(turn, self._text_of)
        try:
            yield TurnStarted(turn)
            history = self._history(principal, turn) if turn.parent_id else []
            answer.add_basis(id_ for one in history for id_ in one.used)
            yield from self._events(principal, answer, _messages(history))
        except GeneratorExit:
            answer.end(TurnState.STOPPED)
            raise
        except BaseException as error:
            answer.fail(error)
            raise
        finally:
            self._unstored.store(principal, answer.turn)
        yield TurnFinished(answer.turn)

    def _events(
        self, principal: Principal, answer: RunningAnswer, history: "History"
    ) -> Iterator[Event]:
        turn = answer.turn
        builder = self.agents if turn.search.by_agent else self.chains
        chain = builder.build(principal, turn.search, turn.conversation_id, answer.options)
        yield from answer.run(chain, history)

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
        """Answer again as another version of a turn; later turns stay with the original.

        Args:
            principal: The user.
            conversation_id: The conversation of the turn.
            turn_id: The turn that gets another version.
            question: Replaces the turn's question.
            standalone: Searched unchanged. If this and `question` are None, the turn's own
                standalone question is reused, except by an agent, which words its own searches.
            search: Search options; None uses those of the turn.

        Raises:
            NotFoundError: The user has no such conversation, or it has no such turn.
        """
        turn = self.conversations.turn(principal, conversation_id, turn_id)
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
        """Repeat the turn's search and answer now, without storing anything.

        Raises:
            NotFoundError: The user has no such conversation.
            InputError: A source that the turn searched was removed.
            LimitError: The user asked too many questions within the last minute.
            ModelError: The model failed.
        """
        self.limit.count(principal)
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
        answer = RunningAnswer(again, self._text_of)
        for _ in self._events(principal, answer, _messages(self._history(principal, turn))):
            pass
        return answer.turn

    def answer(
        self,
        principal: Principal,
        question: str,
        history: Sequence[tuple[str, str]] = (),
        *,
        search: SearchChoice | None = None,
        conversation_id: str = "",
        options: ModelOptions = NO_OPTIONS,
    ) -> Generator[Event, None, None]:
        """Answer a question without storing it; yields the events of `stream` except the first.

        Args:
            principal: The user.
            question: The question as typed.
            history: Earlier questions and answers, oldest first.
            search: Search options; None uses those of the settings.
            conversation_id: A conversation whose files are searched too.
            options: What the chat model is asked for beyond an answer in text.

        Raises:
            InputError: The question is empty, too long, or not text, or the search is impossible.
            LimitError: The user asked too many questions within the last minute.
            ModelOptionError: A schema is invalid, or no chat model supports the options.
            NotFoundError: The user has no such conversation.
            ModelError: The model failed, or its answer does not have the requested format.
        """
        require_possible_k(search.k if search else None)
        options.require_schemas()
        if conversation_id:
            self.conversations.get(principal, conversation_id)
        turn = Turn(
            id="",
            conversation_id=conversation_id,
            question=checked_question(question),
            state=TurnState.RUNNING,
            created_at=datetime.now(UTC),
            model=self.model_label,
            search=(search or SearchChoice()).with_defaults(self.default_search),
        )
        self.limit.count(principal)
        answer = RunningAnswer(turn, self._text_of, options)
        yield from self._events(principal, answer, list(history)[-HISTORY_TURNS:])
        yield TurnFinished(answer.turn, answer.tool_calls, bool(options.response_format))

    def ask(
        self,
        principal: Principal,
        question: str,
        conversation_id: str | None = None,
        search: SearchChoice | None = None,
    ) -> Turn:
        """Answer a question and return the whole turn; raises what `stream` raises."""
        return turn_of(self.stream(principal, question, conversation_id, search=search))

    def _history(self, principal: Principal, turn: Turn) -> list[Turn]:
        turns = self.conversations.turns(
            principal, turn.conversation_id, until=turn.parent_id, latest=HISTORY_TURNS
        )
        return readable_turns(self.access, principal, turns)

    def _text_of(self, document_id: str) -> str | None:
        try:
            return self.documents.text(document_id)
        except NotFoundError:
            return None


def _messages(turns: Iterable[Turn]) -> "History":
    return [message for turn in turns for message in messages_of(turn)]


def turn_of(events: Iterable[Event]) -> Turn:
    """Consume all events of an answer and return its turn; raises the errors of the answer."""
    return end_of(events).turn


def end_of(events: Iterable[Event]) -> TurnFinished:
    """Consume all events of an answer and return the last one, like `turn_of`."""
    *_, last = events
    if not isinstance(last, TurnFinished):
        raise TypeError(f"the last event must be TurnFinished, not {last}")
    return last
