"""People and their preferences."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from api.schemas.answers import Given, Told
from api.schemas.texts import NOT_BLANK, Line
from catalog.people import MAX_ID_CHARS

_EXAMPLE: Any = {"food": 4.5, "price": 2.0}

Language = Literal["", "en", "ko", "ja"]
PersonId = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_ID_CHARS)]
Preference = Annotated[float, Field(ge=0, le=5, strict=True)]


class User(Told):
    """A person whom a search can know."""

    id: str = Field(description="The id that was chosen for them", examples=["kim"])
    preferences: dict[str, float] = Field(
        description="How much each aspect matters to them, from 0 to 5", examples=[_EXAMPLE]
    )
    language: str = Field(
        description='Of their answers: `en`, `ko` or `ja`; "" for that of the question',
        examples=["ko"],
    )


class UserChange(Given):
    """What changes; what is left out stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"preferences": _EXAMPLE, "language": "ko"},
                {"preferences": {"price": None}},
            ]
        }
    )

    preferences: dict[Line, Preference | None] = Field(
        default={},
        description="From 0 to 5 by aspect of a catalogue; null takes an aspect out, others stay",
        examples=[_EXAMPLE],
    )
    language: Language | None = Field(
        default=None,
        description='The language of their answers; "" for that of the question; null: as it is',
        examples=["ko"],
    )
