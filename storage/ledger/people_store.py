"""People and their preferences, stored by the users who manage them."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

from sqlalchemy import select

from domain import Person
from domain.errors import InputError, NotFoundError
from domain.messages import _
from storage.ledger.columns import from_row, shallow_dict
from storage.ledger.database import Store
from storage.ledger.ledger_tables import UserRow


class People(Store):
    """People, identified by their owner's id and their own id."""

    def get(self, owner_id: str, person_id: str) -> Person:
        """A person; raises NotFoundError if the owner has none with this id."""
        with self._database.read() as session:
            row = session.get(UserRow, (owner_id, person_id))
            if row is None:
                raise NotFoundError(
                    _("there is no user {person_id}: save their preferences first").format(
                        person_id=repr(person_id)
                    )
                )
            return from_row(Person, row)

    def list(self, owner_id: str) -> list[Person]:
        """All people of an owner, by their ids."""
        own = select(UserRow).where(UserRow.owner_id == owner_id)
        return self._each(Person, own.order_by(UserRow.id))

    def change(self, owner_id: str, person_id: str, change: Callable[[Person], Person]) -> Person:
        """Replace a person by the result of `change` in one transaction, and return the result.

        `change` receives a person without preferences if no person has this id.

        Raises:
            InputError: A preference is not a finite number, which JSON can't represent.
        """
        with self._database.write() as session:
            row = session.get(UserRow, (owner_id, person_id), with_for_update=True)
            before = Person(owner_id, person_id) if row is None else from_row(Person, row)
            person = replace(change(before), owner_id=owner_id, id=person_id)
            session.merge(_row(person))
        return person


def _row(person: Person) -> UserRow:
    for aspect, preference in person.preferences.items():
        if not isfinite(preference):
            raise InputError(
                _("the preference for {aspect} must be a number, not {preference}").format(
                    aspect=aspect, preference=preference
                )
            )
    return UserRow(**shallow_dict(person))
