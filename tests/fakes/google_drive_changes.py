"""The logs of changes of the fake Google Drive: one of each account, one of each shared drive.

As in Drive, an account's own log tells nothing of what is in a shared drive that it is a member
of, only that it became or is no more a member; a file that is moved into a shared drive leaves it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.google_drive_items import Item, stamp

FIRST = 1001


@dataclass(frozen=True)
class Entry:
    """`drive` is the shared drive whose log it is in, "" where it is in those of `accounts`."""

    number: int
    item: Item
    drive: str
    accounts: frozenset[str]
    time: str


class InvalidTokenError(Exception):
    """No such place in this log: with the status that Drive answers."""


class ChangeLog:
    """Entries in order, and the places in it as tokens."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.oldest = FIRST
        """Tokens from before are expired."""

        self.expired_status = 410

    @property
    def next(self) -> int:
        return FIRST + len(self.entries)

    def add(self, item: Item, drive: str, accounts: set[str], moment: Any) -> None:
        self.entries.append(Entry(self.next, item, drive, frozenset(accounts), stamp(moment)))

    def expire(self) -> None:
        """Let no token given so far be good any more."""
        self.entries.extend(self.entries[-1:])  # another number, the same change
        self.oldest = self.next

    def token(self, drive: str, number: int | None = None) -> str:
        number = self.next if number is None else number
        return f"{drive}~{number}" if drive else str(number)

    def since(self, token: str, drive: str, wanted: Callable[[Entry], bool]) -> list[Entry]:
        """What was logged from there on: of each item only the newest, in order.

        Raises:
            InvalidTokenError: The token is not one of this log, or has expired.
        """
        log, _, digits = token.rpartition("~")
        if log != drive or not digits.isdigit() or not FIRST <= int(digits) <= self.next:
            raise InvalidTokenError(400)
        if int(digits) < self.oldest:
            raise InvalidTokenError(self.expired_status)
        newest = {
            entry.item.id: entry
            for entry in self.entries[int(digits) - FIRST :]
            if entry.drive == drive and wanted(entry)
        }
        return sorted(newest.values(), key=lambda entry: entry.number)
