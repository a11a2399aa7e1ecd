"""What catalogues list, and the people who prefer some of it."""

from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables.base import Base, key_reference


class PlaceRow(Base):
    """A place, beside the document that holds its text; see `domain.Place`.

    `catalogue_id` is the document's source; `ratings` is how many the `rating` rests on. `aspects`
    has by aspect how many reviews praise it and how many blame it, as a list of both.
    """

    __tablename__ = "places"
    __table_args__ = (Index("ix_places_catalogue_id", "catalogue_id", "place_id"),)

    document_id: Mapped[str] = key_reference("documents.id")
    catalogue_id: Mapped[str]
    place_id: Mapped[str]
    title: Mapped[str]
    types: Mapped[list[Any]]
    fields: Mapped[dict[str, Any]]
    facts: Mapped[dict[str, Any]]
    rating: Mapped[float | None]
    ratings: Mapped[int]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    aspects: Mapped[dict[str, Any]]


class UserRow(Base):
    """A person whom somebody, `owner_id`, keeps preferences of; see `domain.Person`."""

    __tablename__ = "users"

    owner_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    preferences: Mapped[dict[str, Any]]
    language: Mapped[str]
