"""Principals and the API keys of programs that act for them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Principal:
    """The user or API key on whose behalf a call is made."""

    user_id: str
    groups: frozenset[str] = frozenset()


LOCAL_USER = Principal("local")


class ApiScope(StrEnum):
    """The permissions of a key.

    `read`: search and read. `ask`: ask questions, and store conversations and judgments. `manage`:
    change sources, imports, and documents. No scope includes another.
    """

    READ = "read"
    ASK = "ask"
    MANAGE = "manage"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key with which a program calls the API for a user; its secret is not stored.

    `used_at` is the time of its last use, to the minute. A key with `revoked_at` is invalid.
    """

    id: str
    name: str
    user_id: str
    scopes: frozenset[ApiScope]
    created_at: datetime
    used_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def principal(self) -> Principal:
        """The principal for calls with this key."""
        return Principal(self.user_id)
