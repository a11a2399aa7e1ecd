"""The change logs of the fake Google Drive: one per account and one per shared drive.

As in Drive, an account's log contains no changes inside shared drives, only changes of its
membership; a file that moves into a shared drive leaves the log.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.google_drive_items import Item, stamp

FIRST = 1001


@dataclass(frozen=True)
class Entry:
    """`drive` is the shared drive of the log; "" for an entry in the logs of `accounts`."""

    number: int
    item: Item
    drive: str
    accounts: frozenset[str]
    time: str


class InvalidTokenError(Exception):
    """An unknown position in the log, with Drive's status."""


class ChangeLog:
    """Ordered entries, with tokens for the positions between them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.oldest = FIRST
        """Tokens for earlier positions are expired."""

        self.expired_status = 410

    @property
    def next(self) -> int:
        return FIRST + len(self.entries)

    def add(self, item: Item, drive: str, accounts: set[str], moment: Any) -> None:
        self.entries.append(Entry(self.next, item, drive, frozenset(accounts), stamp(moment)))

    def expire(self) -> None:
        """Expire all tokens issued so far."""
        self.entries.extend(self.entries[-1:])  # new number, same change
        self.oldest = self.next

    def token(self, drive: str, number: int | None = None) -> str:
        number = self.next if number is None else number
        return f"{drive}~{number}" if drive else str(number)

    def since(self, token: str, drive: str, is_included: Callable[[Entry], bool]) -> list[Entry]:
        """Changes since the token: only the latest for each item, in order.

        Raises:
            InvalidTokenError: The token belongs to another log or has expired.
        """
        log, _, digits = token.rpartition("~")
        if log != drive or not digits.isdigit() or not FIRST <= int(digits) <= self.next:
            raise InvalidTokenError(400)
        if int(digits) < self.oldest:
            raise InvalidTokenError(self.expired_status)
        newest = {
            entry.item.id: entry
            for entry in self.entries[int(digits) - FIRST :]
            if entry.drive == drive and is_included(entry)
        }
        return sorted(newest.values(), key=lambda entry: entry.number)
