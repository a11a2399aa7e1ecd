"""Who asks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking. Conversations belong to a user; filters may name the groups."""

    user_id: str
    groups: frozenset[str] = frozenset()


LOCAL_USER = Principal("local")
