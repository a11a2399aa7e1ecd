"""Catalogues and their places, and the people who prefer some of them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.access import Asker, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import problem_responses
from api.schemas.people import PersonId, User, UserChange
from api.schemas.places import (
    Catalogue,
    CataloguePage,
    Place,
    PlaceDetails,
    PlacePage,
    details_of,
)
from api.schemas.texts import Line
from domain import WantedValue, any_of
from errors import InputError

router = APIRouter(tags=["catalogue"], responses=problem_responses(409))
ONE = problem_responses(404)
_SEVERAL = 200

Named = Annotated[Line, Query(description='Id or name of the catalogue; "" for the only one')]
Types = Annotated[
    list[Line],
    Query(alias="type", max_length=_SEVERAL, description="Types, of which one will do"),
]
LeastRating = Annotated[
    float | None, Query(ge=0, allow_inf_nan=False, description="On the catalogue's scale")
]
FieldValue = Annotated[Line, Query(json_schema_extra={"pattern": "^[^:]+:"})]
FieldValues = Annotated[
    list[FieldValue],
    Query(
        alias="field",
        max_length=_SEVERAL,
        description="Filters as `name:value`, such as `borough_en:Brooklyn`. All names hold; of"
        " several values of a name any will do",
    ),
]
PlaceId = Annotated[str, Path(description="Id of a place in its catalogue", examples=["r17"])]
UserId = Annotated[
    PersonId, Path(description="Id of a person, which the caller chooses", examples=["kim"])
]


@router.get("/catalogues")
def list_catalogues(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> CataloguePage:
    """List the catalogues, and what questions about their places may name."""
    found = services.catalogue.catalogues(principal)
    items = [Catalogue.model_validate(one) for one in found[offset : offset + limit]]
    return CataloguePage(items=items, total=len(found))


@router.get("/restaurants")
def list_restaurants(
    services: OpenServices,
    principal: Reader,
    catalogue: Named = "",
    types: Types = [],  # noqa: B006  # nothing changes it
    min_rating: LeastRating = None,
    field: FieldValues = [],  # noqa: B006  # nothing changes it
    limit: Limit = FIRST,
    offset: Offset = 0,
) -> PlacePage:
    """List the places of a catalogue that match, whatever they are, by title."""
    page = services.catalogue.places(
        principal,
        catalogue,
        fields=_by_name(field),
        types=types,
        min_rating=min_rating,
        offset=offset,
        limit=limit,
    )
    return PlacePage(items=[Place.model_validate(one) for one in page.places], total=page.total)


@router.get("/restaurants/{place_id:path}", responses=ONE)
def read_restaurant(
    services: OpenServices, principal: Reader, place_id: PlaceId, catalogue: Named = ""
) -> PlaceDetails:
    """Read a place with its reviews, and what these say again and again."""
    return details_of(services.catalogue.place(principal, place_id, catalogue))


@router.get("/users/{user_id:path}", responses=ONE)
def read_user(services: OpenServices, principal: Asker, user_id: UserId) -> User:
    """Read what a person prefers."""
    return User.model_validate(services.people.get(principal, user_id))


@router.patch("/users/{user_id:path}", responses=ONE)
def change_user(
    services: OpenServices, principal: Asker, user_id: UserId, change: UserChange
) -> User:
    """Change what a person prefers; who is not there yet is kept from now on."""
    person = services.people.patch(principal, user_id, change.preferences, change.language)
    return User.model_validate(person)


def _by_name(given: list[str]) -> dict[str, WantedValue]:
    """What is asked for by the names of the filters.

    Raises:
        InputError: One is not written as `name:value`.
    """
    fields: dict[str, list[str]] = {}
    for one in given:
        name, colon, value = one.partition(":")
        if not (name and colon):
            raise InputError(
                f"field: {one[:40]!r} names no filter: write name:value, such as"
                " borough_en:Brooklyn"
            )
        fields.setdefault(name, []).append(value)
    return {name: any_of(values) for name, values in fields.items()}
