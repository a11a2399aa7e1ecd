"""People and what they prefer, as those who look after them told."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

from domain import Person
from errors import InputError, NotFoundError
from storage.database import Database
from storage.tables import UserRow


class People:
    """People by the id of their owner, and their own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, owner_id: str, person_id: str) -> Person:
        """The person of that id.

        Raises:
            NotFoundError: The owner keeps nobody of that id.
        """
        with self._database.read() as session:
            row = session.get(UserRow, (owner_id, person_id))
            if row is None:
                raise NotFoundError(f"there is no user {person_id!r}: tell what they prefer first")
            return _person(row)

    def change(self, owner_id: str, person_id: str, change: Callable[[Person], Person]) -> Person:
        """Keep what `change` makes of the person, and return it; nothing comes in between.

        It is given a person without preferences where there was nobody of that id.

        Raises:
            InputError: A preference is not a finite number: JSON has no such.
        """
        with self._database.write() as session:
            row = session.get(UserRow, (owner_id, person_id), with_for_update=True)
            before = Person(owner_id, person_id) if row is None else _person(row)
            person = replace(change(before), owner_id=owner_id, id=person_id)
            session.merge(_row(person))
        return person


def _row(person: Person) -> UserRow:
    for aspect, preference in person.preferences.items():
        if not isfinite(preference):
            raise InputError(f"the preference for {aspect} must be a number, not {preference}")
    return UserRow(
        owner_id=person.owner_id,
        id=person.id,
        preferences=dict(person.preferences),
        language=person.language,
    )


def _person(row: UserRow) -> Person:
    return Person(row.owner_id, row.id, row.preferences, row.language)
