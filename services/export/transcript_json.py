"""Writes a conversation with all its turns as JSON, and reads it back."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from domain import Conversation, SearchChoice, Step, Turn, TurnState
from domain.errors import InputError
from domain.messages import _, join_messages
from services.search.search_scope import condition_of
from services.texts import MAX_TITLE_CHARS, require_possible_k

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT_VERSION: Final = 1
MAX_BYTES = 20 * 1024 * 1024
MAX_ANSWER_CHARS = 200_000
MAX_EVIDENCE = 1_000
"""The maximum number of sources of an answer, and of citations."""
LOST_ANSWER = _("the conversation was exported before this answer was finished: ask again")
_LARGEST = 2**31 - 1
_YEARS = range(1970, 9999)  # near datetime's limits, converting to another time zone fails


@dataclass(frozen=True)
class _Head:
    """The fields that show whether the rest can be read."""

    footnote: Literal["conversation"]
    version: int


@dataclass(frozen=True)
class _File:
    # Pydantic applies this to all nested types: text is not converted to numbers, and NaN is an
    # error.
    __pydantic_config__ = {"strict": True, "allow_inf_nan": False}  # noqa: RUF012

    footnote: Literal["conversation"]
    version: Literal[1]
    conversation: Conversation
    turns: tuple[Turn, ...]


def to_json(conversation: Conversation, turns: Sequence[Turn]) -> bytes:
    """The file that `read_json` reads, without the owner of the conversation."""
    file = _File("conversation", FORMAT_VERSION, replace(conversation, user_id=""), tuple(turns))
    return _adapter(_File).dump_json(file, indent=1)


def read_json(data: bytes) -> tuple[Conversation, list[Turn]]:
    """Read the conversation, without an owner, and all its turns, with new ids.

    Raises:
        InputError: The file or an answer in it is too large; or the file is inconsistent, not an
            exported conversation, or from another version of the format.
    """
    if len(data) > MAX_BYTES:
        raise InputError(
            _(
                "The file has {data} MB; the limit is {max_bytes} MB: export a shorter"
                " conversation."
            ).format(data=f"{len(data) / 2**20:,.0f}", max_bytes=MAX_BYTES // 2**20)
        )
    head = _parse(_Head, data)
    if head.version != FORMAT_VERSION:
        raise InputError(
            _(
                "The file has format version {version}, but this version of Footnote reads"
                " format version {format_version}: update Footnote, or export the"
                " conversation again with this version."
            ).format(version=head.version, format_version=FORMAT_VERSION)
        )
    file = _parse(_File, data)
    _check(file)
    return _with_new_ids(file)


def _parse(kind: Any, data: bytes) -> Any:
    from pydantic import ValidationError  # slow to load, and only imports need it

    try:
        return _adapter(kind).validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or _("the file")
        raise _unreadable(join_messages((place, first["msg"]), ": ")) from error


def _unreadable(reason: str) -> InputError:
    return InputError(
        _(
            "This is not a conversation that Footnote exported as JSON ({reason}): choose"
            " another file."
        ).format(reason=reason)
    )


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _check(file: _File) -> None:
    """Check the rules that the types don't express."""
    ids: set[str | None] = {None}
    for turn in file.turns:
        if turn.id in ids or turn.parent_id not in ids:
            raise _unreadable(_("turns: their order is inconsistent"))
        ids.add(turn.id)
        if not 0 <= turn.unsupported_sentences <= _LARGEST:
            raise _unreadable(_("turns: a number is out of range"))
        _check_size(turn)
        _check_steps(turn.steps)
    leaf_id = file.conversation.shown_turn_id
    if leaf_id not in ids if file.turns else leaf_id:
        raise _unreadable(_("shown_turn_id: there is no such turn"))
    if len(file.conversation.title) > MAX_TITLE_CHARS:
        raise _unreadable(_("title: it is too long"))
    for search in (file.conversation.search, *(turn.search for turn in file.turns)):
        _check_search(search)


def _check_size(turn: Turn) -> None:
    """Reject a turn whose answer or evidence takes too long to check."""
    if len(turn.answer) > MAX_ANSWER_CHARS:
        raise InputError(
            _(
                "The file has an answer of {length} characters; the limit is {limit}: choose"
                " another file."
            ).format(length=f"{len(turn.answer):,}", limit=f"{MAX_ANSWER_CHARS:,}")
        )
    number = max(len(turn.sources), len(turn.citations))
    if number > MAX_EVIDENCE:
        raise InputError(
            _(
                "The file has an answer with {number} sources or citations; the limit is {limit}:"
                " choose another file."
            ).format(number=f"{number:,}", limit=f"{MAX_EVIDENCE:,}")
        )


def _check_steps(steps: Sequence[Step]) -> None:
    """Reject steps that can't be shown or stored.

    Their sources can be missing from the turn if it was stopped.
    """
    if [step.n for step in steps] != list(range(1, len(steps) + 1)):
        raise _unreadable(_("steps: they are not numbered from 1"))
    for step in steps:
        numbers = (step.milliseconds, *step.sources)
        if not all(0 <= number <= _LARGEST for number in numbers):
            raise _unreadable(_("steps.{n}: a number is out of range").format(n=step.n))
        try:
            json.dumps(step.arguments, allow_nan=False)
        except ValueError as error:
            raise _unreadable(
                _("steps.{n}.arguments: a number is out of range").format(n=step.n)
            ) from error


def _check_search(search: SearchChoice) -> None:
    """Reject settings with which no search is possible, but accept unknown sources."""
    try:
        condition_of(replace(search.scope, sources=()), [])
        require_possible_k(search.k)
    except InputError as error:
        raise _unreadable(str(error)) from error
    if search.score_threshold is not None and not 0 <= search.score_threshold <= 1:
        raise _unreadable(_("score_threshold must be between 0 and 1"))


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
    return conversation, [_renew(turn, conversation.id, new) for turn in file.turns]


def _renew(turn: Turn, conversation_id: str, new: dict[str, str]) -> Turn:
    renewed = replace(
        turn,
        id=new[turn.id],
        conversation_id=conversation_id,
        parent_id=turn.parent_id and new[turn.parent_id],
        created_at=_in_utc(turn.created_at),
        search=_frozen(turn.search),
    )
    if turn.state is not TurnState.RUNNING:
        return renewed
    return replace(renewed, state=TurnState.INCOMPLETE, error=LOST_ANSWER)


def _frozen(search: SearchChoice) -> SearchChoice:
    """Convert the lists back to tuples; pydantic reads any sequence as a list."""
    lists = ("sources", "collections", "formats", "labels")
    tuples: dict[str, Any] = {name: tuple(getattr(search.scope, name)) for name in lists}
    return replace(search, scope=replace(search.scope, **tuples))


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise _unreadable(_("{moment} has no time zone").format(moment=moment.isoformat()))
    if moment.year not in _YEARS:
        raise _unreadable(_("{moment} is out of range").format(moment=moment.isoformat()))
    return moment.astimezone(UTC)
