"""A conversation as JSON with all its turns, and back."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from domain import Conversation, SearchChoice, Step, Turn, TurnState
from errors import InputError
from services.questions import MAX_TITLE_CHARS, require_possible_k
from services.scope import condition_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION: Final = 1
MAX_BYTES = 20 * 1024 * 1024
LOST_ANSWER = "the conversation was exported before this answer was finished: ask again"
_LARGEST = 2**31 - 1
_YEARS = range(1970, 9999)  # at the ends of the calendar no other time zone can tell the moment


@dataclass(frozen=True)
class _Head:
    """What says whether the rest can be read."""

    footnote: Literal["conversation"]
    version: int


@dataclass(frozen=True)
class _File:
    # Read by pydantic for everything below: numbers are not read from text, nor NaN taken.
    __pydantic_config__ = {"strict": True, "allow_inf_nan": False}  # noqa: RUF012

    footnote: Literal["conversation"]
    version: Literal[1]
    conversation: Conversation
    turns: tuple[Turn, ...]


def to_json(conversation: Conversation, turns: Sequence[Turn]) -> bytes:
    """The file `read_json` reads; it does not say whose conversation it is."""
    file = _File("conversation", VERSION, replace(conversation, user_id=""), tuple(turns))
    return _adapter(_File).dump_json(file, indent=1)


def read_json(data: bytes) -> tuple[Conversation, list[Turn]]:
    """The conversation of such a file, nobody's, and all its turns, each with a new id.

    Raises:
        InputError: It is too large, no such file, of a newer Footnote, or does not hold together.
    """
    if len(data) > MAX_BYTES:
        raise InputError(
            f"The file has {len(data) / 2**20:,.0f} MB, the most is {MAX_BYTES // 2**20} MB:"
            " export a shorter conversation."
        )
    head = _parsed(_Head, data)
    if head.version != VERSION:
        raise InputError(
            f"The file has version {head.version}, this Footnote reads version {VERSION}:"
            " update Footnote, or export the conversation again with this one."
        )
    file = _parsed(_File, data)
    _check(file)
    return _with_new_ids(file)


def _parsed(kind: Any, data: bytes) -> Any:
    from pydantic import ValidationError  # slow, and only imports need it

    try:
        return _adapter(kind).validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise _unreadable(f"{place}: {first['msg']}") from error


def _unreadable(reason: str) -> InputError:
    return InputError(
        f"This is no conversation exported from Footnote as JSON ({reason}): choose another file."
    )


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _check(file: _File) -> None:
    """What the types alone don't say."""
    known: set[str | None] = {None}
    for turn in file.turns:
        if turn.id in known or turn.parent_id not in known:
            raise _unreadable("turns: their order does not hold together")
        known.add(turn.id)
        if not 0 <= turn.unsupported_sentences <= _LARGEST:
            raise _unreadable("turns: a number is out of range")
        _check_steps(turn.steps)
    shown = file.conversation.shown_turn_id
    if shown not in known if file.turns else shown:
        raise _unreadable("shown_turn_id: there is no such turn")
    if len(file.conversation.title) > MAX_TITLE_CHARS:
        raise _unreadable("title: it is too long")
    for search in (file.conversation.search, *(turn.search for turn in file.turns)):
        _check_search(search)


def _check_steps(steps: Sequence[Step]) -> None:
    """Refuse steps that could not be told or stored. A stopped turn may lack their sources."""
    if [step.n for step in steps] != list(range(1, len(steps) + 1)):
        raise _unreadable("steps: they are not numbered from 1")
    for step in steps:
        numbers = (step.milliseconds, *step.sources)
        if not all(0 <= number <= _LARGEST for number in numbers):
            raise _unreadable(f"steps.{step.n}: a number is out of range")
        try:
            json.dumps(step.arguments, allow_nan=False)
        except ValueError as error:
            raise _unreadable(f"steps.{step.n}.arguments: a number is out of range") from error


def _check_search(search: SearchChoice) -> None:
    """Refuse what nothing could be searched with. Its sources may be unknown here."""
    try:
        condition_of(replace(search.scope, sources=()), [])
        require_possible_k(search.k)
    except InputError as error:
        raise _unreadable(str(error)) from error
    if search.score_threshold is not None and not 0 <= search.score_threshold <= 1:
        raise _unreadable("score_threshold must be between 0 and 1")


def _with_new_ids(file: _File) -> tuple[Conversation, list[Turn]]:
    old = file.conversation
    new = {turn.id: uuid.uuid4().hex for turn in file.turns}
    conversation = replace(
        old,
        id=uuid.uuid4().hex,
        shown_turn_id=new.get(old.shown_turn_id, ""),
        created_at=_in_utc(old.created_at),
        updated_at=_in_utc(old.updated_at),
        search=_frozen(old.search),
        deleted_at=None,
    )
    return conversation, [_renewed(turn, conversation.id, new) for turn in file.turns]


def _renewed(turn: Turn, conversation_id: str, new: dict[str, str]) -> Turn:
    moved = replace(
        turn,
        id=new[turn.id],
        conversation_id=conversation_id,
        parent_id=turn.parent_id and new[turn.parent_id],
        created_at=_in_utc(turn.created_at),
        search=_frozen(turn.search),
    )
    if turn.state is not TurnState.RUNNING:
        return moved
    return replace(moved, state=TurnState.INCOMPLETE, error=LOST_ANSWER)


def _frozen(search: SearchChoice) -> SearchChoice:
    """With tuples, as it was: a sequence is read as a list."""
    lists = ("sources", "collections", "formats", "labels")
    tuples: dict[str, Any] = {name: tuple(getattr(search.scope, name)) for name in lists}
    return replace(search, scope=replace(search.scope, **tuples))


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise _unreadable(f"{moment.isoformat()} has no time zone")
    if moment.year not in _YEARS:
        raise _unreadable(f"{moment.isoformat()} is out of range")
    return moment.astimezone(UTC)
