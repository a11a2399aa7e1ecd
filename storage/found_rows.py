"""What is read of the vector store: a passage as it is kept, and one found by its vector."""

from dataclasses import dataclass
from typing import NamedTuple

from domain import Metadata
from storage.vector_room import Matrix


@dataclass(frozen=True, slots=True)
class Row:
    """One passage as it is kept."""

    id: str
    text: str
    metadata: Metadata


class Near(NamedTuple):
    """A passage found by its vector; `cosine` is between -1 and 1, `vector` has length 1."""

    id: str
    cosine: float
    vector: Matrix
