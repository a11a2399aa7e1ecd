"""Lists, page by page."""

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

Item = TypeVar("Item")

FIRST = 50
"""How many are listed where nobody says how many."""

MOST, MOST_BEFORE = 200, 1_000_000_000
Limit = Annotated[int, Query(ge=1, le=MOST, description="So many at most")]
Offset = Annotated[int, Query(ge=0, le=MOST_BEFORE, description="After so many")]


class Page(BaseModel, Generic[Item]):
    """Some of what there is, and how much there is in all."""

    items: list[Item] = Field(description="Those of this page")
    total: int = Field(ge=0, description="How many there are on all pages", examples=[1])
