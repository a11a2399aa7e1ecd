"""Who asks, and the keys of programs that ask for them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking. Conversations belong to a user; filters may name the groups."""

    user_id: str
    groups: frozenset[str] = frozenset()


LOCAL_USER = Principal("local")


class ApiScope(StrEnum):
    """What a key allows.

    `read` searches and reads, `ask` asks questions and keeps conversations and judgements,
    `manage` changes sources, imports and documents. None holds another.
    """

    READ = "read"
    ASK = "ask"
    MANAGE = "manage"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key with which a program calls the API for a user; its secret is not kept.

    `used_at` is when it was last used, to the minute; with `revoked_at` it opens nothing more.
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
        """For whom it calls."""
        return Principal(self.user_id)
