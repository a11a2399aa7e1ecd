"""What a person fills in for a source: the fields of a form, and what was given for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from errors import ConflictError, SourceError

Given = Mapping[str, Any]
"""What a person filled in, by the names of the kind's fields."""


class FieldType(StrEnum):
    """What a field takes.

    A line of text, text line by line (a list), files, one of several options, yes or no.
    """

    TEXT = "text"
    LINES = "lines"
    FILES = "files"
    CHOICE = "choice"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a kind's form, beginning with `default` (a choice: with its first option).

    A secret one is never shown, nor kept among the options; a fixed one says where the source
    is, and can't be changed later. It is there only `when` each of the choices that are named
    there is one of those options.
    """

    name: str
    type: FieldType = FieldType.TEXT
    required: bool = False
    secret: bool = False
    fixed: bool = False
    default: str = ""
    options: tuple[str, ...] = ()
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def applies(self, given: Given) -> bool:
        """Whether it is there with these choices."""
        return all(given.get(name) in wanted for name, wanted in self.when.items())


def deciding(fields: Iterable[Field]) -> list[Field]:
    """The choices that other fields depend on, in their order."""
    fields = list(fields)
    named = {name for one in fields for name in one.when}
    return [one for one in fields if one.name in named]


def secret_field(fields: Iterable[Field], given: Given) -> Field:
    """The secret that is needed with these choices: each way to sign in has one."""
    return next(one for one in fields if one.secret and one.applies(given))


def options_of(fields: Iterable[Field], given: Given) -> dict[str, Any]:
    """What was given, as options are kept: of the fields that apply, without secrets.

    Raises:
        SourceError: A choice is none of its options.
    """
    fields = list(fields)
    chosen = {one.name: choice(given, one) for one in deciding(fields)}
    told = [one for one in fields if not one.secret and one.applies(chosen)]
    return {one.name: _value(given, one) for one in told}


def check_given(fields: Iterable[Field], given: Given) -> None:
    """Make sure that all that was given is of these fields.

    Raises:
        ConflictError: Something is not; no value is quoted, as it could be a secret.
    """
    known = [one.name for one in fields]
    for name in given:
        if name not in known:
            told = ", ".join(known) or "none"
            raise ConflictError(f"No field {name!r} can be given here; those that can are: {told}.")


def choice(given: Given, one: Field) -> str:
    """The option that was chosen; the first where nothing was.

    Raises:
        SourceError: It is none of them.
    """
    chosen = str(given.get(one.name) or one.options[0])
    if chosen not in one.options:
        known = ", ".join(one.options)
        raise SourceError(f"{chosen} is no choice for {one.name}: choose one of {known}.")
    return chosen


def required(given: Given, name: str, what: str) -> str:
    """The text of a field that must be filled in.

    Raises:
        SourceError: It is empty.
    """
    text = str(given.get(name) or "").strip()
    if not text:
        raise SourceError(f"{what} is missing: fill it in.")
    return text


def lines(given: Given, name: str) -> list[str]:
    """The lines of a field, without blank ones."""
    value = given.get(name) or ()
    told = value.splitlines() if isinstance(value, str) else value
    return [line.strip() for line in told if line.strip()]


def items(told: Sequence[str]) -> list[str]:
    """What stands in the lines, separated by commas or spaces; each once, sorted."""
    found = (one for line in told for one in line.replace(",", " ").split())
    return sorted(set(found))


def _value(given: Given, one: Field) -> Any:
    if one.type is FieldType.CHOICE:
        return choice(given, one)
    if one.type is FieldType.SWITCH:
        return bool(given.get(one.name))
    if one.type is FieldType.LINES:
        return lines(given, one.name)
    return str(given.get(one.name) or "").strip()
