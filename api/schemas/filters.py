"""Conditions on what passages carry, as callers write them."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, with_config
from typing_extensions import TypedDict  # pydantic takes typing's own from Python 3.12 on

from api.schemas.numbers import NUMBER
from api.schemas.texts import MOMENT_IN_UTC
from domain import FILTER_FIELDS

Text = Annotated[str, StringConstraints(max_length=1000)]
Moment = Annotated[
    str,
    StringConstraints(pattern=MOMENT_IN_UTC),
    Field(examples=["2026-11-21T10:00:00Z"]),
]
"""A moment as passages hold it; a day comes before all its moments."""
Page = Annotated[int, Field(ge=1), NUMBER]
Texts = Annotated[list[Text], Field(max_length=1000)]
Pages = Annotated[list[Page], Field(max_length=1000)]


def _that(meaning: str, *examples: Any) -> Any:
    return Field(description=meaning, examples=list(examples))


TextCondition = TypedDict(
    "TextCondition",
    {
        "$in": Annotated[Texts, _that("It is one of these", ["md", "pdf"])],
        "$nin": Annotated[Texts, _that("It is none of these", ["html"])],
        "$gt": Annotated[Text, _that("It comes after this, letter by letter", "a")],
        "$gte": Annotated[Text, _that("It is this or comes after it", "a")],
        "$lt": Annotated[Text, _that("It comes before this, letter by letter", "q")],
        "$lte": Annotated[Text, _that("It is this or comes before it", "q")],
    },
    total=False,
)
MomentCondition = TypedDict(
    "MomentCondition",
    {
        "$gt": Annotated[Moment, _that("It is later than this", "2026-01-01")],
        "$gte": Annotated[Moment, _that("It is this or later", "2026-01-01")],
        "$lt": Annotated[Moment, _that("It is earlier than this", "2026-11-21")],
        "$lte": Annotated[Moment, _that("It is this or earlier", "2026-11-21")],
    },
    total=False,
)
PageCondition = TypedDict(
    "PageCondition",
    {
        "$in": Annotated[Pages, _that("It is one of these", [1, 2])],
        "$nin": Annotated[Pages, _that("It is none of these", [1])],
        "$gt": Annotated[Page, _that("It is greater than this", 1)],
        "$gte": Annotated[Page, _that("It is this or greater", 2)],
        "$lt": Annotated[Page, _that("It is less than this", 9)],
        "$lte": Annotated[Page, _that("It is this or less", 8)],
    },
    total=False,
)
LabelsCondition = TypedDict(
    "LabelsCondition",
    {
        "$contains": Annotated[Text, _that("This is among them", "policy")],
        "$contains_any": Annotated[Texts, _that("One of these is among them", ["policy", "hr"])],
    },
    total=False,
)
TextCondition.__doc__ = "Of a text: all of the operators that are named must hold."
MomentCondition.__doc__ = "Of a moment: all of the operators that are named must hold."
PageCondition.__doc__ = "Of a page: all of the operators that are named must hold."
LabelsCondition.__doc__ = "Of a list of labels: all of the operators that are named must hold."


def _about(field: str) -> Any:
    return Field(description=FILTER_FIELDS[field][0].upper() + FILTER_FIELDS[field][1:])


class GivenFilter(TypedDict, total=False):
    """Conditions on what passages carry; all must hold. A passage without a field matches none.

    A plain value must be equal, an object names operators, all of which must hold; an empty one
    narrows nothing. Texts are compared letter by letter.
    """

    source_id: Annotated[Text | TextCondition, _about("source_id")]
    collection: Annotated[Text | TextCondition, _about("collection")]
    document_id: Annotated[Text | TextCondition, _about("document_id")]
    key: Annotated[Text | TextCondition, _about("key")]
    title: Annotated[Text | TextCondition, _about("title")]
    format: Annotated[Text | TextCondition, _about("format")]
    labels: Annotated[LabelsCondition, _about("labels")]
    modified_at: Annotated[Moment | MomentCondition, _about("modified_at")]
    page: Annotated[Page | PageCondition, _about("page")]
    script: Annotated[Text | TextCondition, _about("script")]


for _model in (TextCondition, MomentCondition, PageCondition, LabelsCondition, GivenFilter):
    with_config(ConfigDict(extra="forbid"))(_model)
