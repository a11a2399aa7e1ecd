"""Types of request fields, and readable reasons for invalid values."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, NamedTuple, Self, TypeVar

from fastapi import Depends, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from services.texts import MAX_QUESTION_CHARS


def _number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("Input should be a number")  # noqa: TRY004  # pydantic requires it
    return value


NUMBER = BeforeValidator(_number)
"""Accepts 1 and 1.0, like `integer` in JSON Schema; in an annotation it follows the bounds.

Unlike pydantic's lenient mode it rejects strings and booleans; strict mode would reject 1.0.
"""


def _id_of(what: str, example: str) -> Any:
    return Path(description=f"Id of {what}", examples=[example])


ConversationId = Annotated[str, _id_of("a conversation", "0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b")]
TurnId = Annotated[str, _id_of("a turn", "5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910")]
SourceId = Annotated[str, _id_of("a source", "7c9e6679742540de944be07fc1f90ae7")]
ImportId = Annotated[str, _id_of("an import", "0f8fad5bd9cb469fa16570867728950e")]
DocumentId = Annotated[str, _id_of("a document", "9b2f5c1e0d7a4c4f8a3be1f1c2d3e4f5")]
LabelId = Annotated[str, _id_of("a label", "0c6f1d2e3b4a59687786950a1b2c3d4e")]


Item = TypeVar("Item")

DEFAULT_LIMIT = 50
"""The default number of listed items."""

MAX_LIMIT, MAX_OFFSET = 200, 1_000_000_000
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum number of items to return")]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET, description="Number of items to skip")]


class PageRange(NamedTuple):
    """Which items of a list to return."""

    limit: int
    offset: int

    def slice(self, rows: Sequence[Item]) -> Sequence[Item]:
        """These rows of a whole list."""
        return rows[self.offset : self.offset + self.limit]


async def _page_range(limit: Limit = DEFAULT_LIMIT, offset: Offset = 0) -> PageRange:
    return PageRange(limit, offset)


Paging = Annotated[PageRange, Depends(_page_range)]
"""The requested items of a list, as an argument of an operation."""


class Schema(BaseModel):
    """A model whose fields are described by the docstrings below them."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    @classmethod
    def from_objects(cls, *objects: object, **values: object) -> Self:
        """The model with these values, else with the attributes of the first object that has them.

        Raises:
            ValidationError: A required field has no value, or the wrong one.
        """
        for name in cls.model_fields.keys() - values.keys():
            owner = next((one for one in objects if hasattr(one, name)), None)
            if owner is not None:
                values[name] = getattr(owner, name)
        return cls.model_validate(values)


class Page(Schema, Generic[Item]):
    """One page of a list, and the length of the whole list.

    Looking for docstrings of a generic model's fields takes pydantic 30 ms for each kind of item.
    """

    model_config = ConfigDict(use_attribute_docstrings=False)

    items: list[Item] = Field(description="The items on this page")
    total: int = Field(ge=0, description="Total number of items on all pages", examples=[1])

    @classmethod
    def of(cls, rows: Sequence[object], total: int) -> Self:
        """The page with these rows, which are converted to items by their attributes."""
        return cls.model_validate({"items": rows, "total": total}, from_attributes=True)

    @classmethod
    def slice_of(cls, rows: Sequence[object], paging: PageRange) -> Self:
        """The requested rows of a whole list."""
        return cls.of(paging.slice(rows), len(rows))


NO_NUL = r"^[^\x00]*$"
"""Matches a string without NUL characters."""

NOT_BLANK = r"^[^\x00]*[^\s\x00\u001c-\u001f\u0085\ufeff][^\x00]*$"
"""Matches a string that is not blank and contains no NUL character.

The characters that Python's `strip` removes differ from those that `\\s` matches in each regex
dialect. With the differences listed, pydantic, JSON Schema, and `strip` agree.
"""

MOMENT = (
    r"^(((1[6-9]|[2-8][0-9])[0-9]{2}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])-"
    r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|02-(0[1-9]|1[0-9]|2[0-9]))"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
    r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?)?$"
)
"""A date or time from 1600 to 9998, or "" for none; extreme ones can't be converted to UTC."""

MOMENT_IN_UTC = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$"
"""A date, or a time in UTC, in the form that passages store."""

NAME_OR_EMPTY = r"^([^\s\x00-\x1f][^\x00]*)?$"
"""Empty, or a name that does not begin with a blank."""

FUNCTION_NAME = r"^[a-zA-Z0-9_-]{1,64}$"
"""A name that chat models accept for a function or a format."""

READER = r"^(user|group|domain):[^\x00]*[^\s\x00][^\x00]*$|^email:[^\x00@]+@[^\x00@]+$"
"""A reader of sources; the service also refuses control characters."""

PATTERN_MESSAGES: Mapping[str, str] = {
    NO_NUL: "It contains a NUL character",
    NOT_BLANK: "It is empty or blank, or contains a NUL character",
    MOMENT: "It is not a date or time from 1600 to 9998, such as 2026-01-01 or"
    " 2026-11-21T10:00:00Z",
    MOMENT_IN_UTC: "It is not a date or a time in UTC, such as 2026-01-01 or 2026-11-21T10:00:00Z",
    FUNCTION_NAME: "It is not a name of 1 to 64 letters, digits, underscores, and hyphens",
    READER: "It is not a reader: use user:ID, group:NAME, email:ADDRESS, or domain:NAME",
    NAME_OR_EMPTY: "It begins with a blank or contains a NUL character",
}
"""The message for a string that does not match, by pattern."""

Line = Annotated[str, StringConstraints(max_length=1000)]
"""A short string, which may be empty."""

Question = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_QUESTION_CHARS)]
"""A question or a search query."""
