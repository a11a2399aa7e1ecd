"""Checks the names of readers and groups that people enter."""

from collections.abc import Iterable
from unicodedata import category

from domain.errors import InputError
from domain.messages import _
from domain.people import group_reader

MAX_READERS = 1000
MAX_READER_CHARS = 200
_KINDS = ("user", "group", "email", "domain")
_IGNORE_CASE = ("email", "domain")
_CONTROLS = {"Cc", "Cf", "Cs", "Zl", "Zp"}

Readers = tuple[str, ...]
"""Sorted readers: `user:ID`, `group:NAME`, `email:ADDRESS`, or `domain:NAME`."""


def checked_readers(readers: Iterable[str]) -> Readers:
    """The readers without duplicates and blanks around them; addresses in lowercase.

    Raises:
        InputError: One is malformed, or there are more than 1000.
    """
    checked = tuple(sorted({_checked(reader) for reader in readers}))
    if len(checked) > MAX_READERS:
        raise InputError(
            _("These are {count} readers: specify at most {maximum}, or use groups.").format(
                count=len(checked), maximum=MAX_READERS
            )
        )
    return checked


def checked_groups(groups: Iterable[str]) -> frozenset[str]:
    """The names of groups, without blanks around them.

    Raises:
        InputError: One is blank, too long, or not one line, or there are more than 1000.
    """
    names = [reader.removeprefix("group:") for reader in checked_readers(map(group_reader, groups))]
    return frozenset(names)


def _checked(reader: str) -> str:
    kind, _colon, name = reader.strip().partition(":")
    name = name.strip()
    if kind not in _KINDS or not _is_name(name):
        raise _malformed(reader)
    if kind == "email" and (name.count("@") != 1 or not all(name.split("@"))):
        raise _malformed(reader)
    return f"{kind}:{name.lower() if kind in _IGNORE_CASE else name}"


def _is_name(text: str) -> bool:
    """Whether it is one line of 1 to 200 characters."""
    is_line = all(category(character) not in _CONTROLS for character in text)
    return is_line and 0 < len(text) <= MAX_READER_CHARS


def _malformed(reader: str) -> InputError:
    return InputError(
        _(
            "{reader} is not a reader: use user:ID, group:NAME, email:ADDRESS, or domain:NAME,"
            " with at most {maximum} characters after the colon, on one line."
        ).format(reader=repr(reader[:MAX_READER_CHARS]), maximum=MAX_READER_CHARS)
    )
