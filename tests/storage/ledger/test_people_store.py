import math
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Person
from domain.errors import InputError, NotFoundError
from storage.ledger.people_store import People
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

KIM = Person("ada", "kim", {"food": 4.5, "price": 0.0}, "ko")


@pytest.fixture(scope="module")
def database(tmp_path_factory, ledger_kind):
    return open_ledger(tmp_path_factory.mktemp("people"))


@pytest.fixture
def people(tmp_path):
    return People(open_ledger(tmp_path))


def save(people, person):
    people.change(person.owner_id, person.id, lambda _: person)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(
    person=st.builds(
        Person,
        texts,
        texts,
        st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False)),
        st.sampled_from(["", "en", "ko", "ja"]),
    )
)
def test_people_are_stored_unchanged(database, person):
    people = People(database)
    save(people, person)
    assert people.get(person.owner_id, person.id) == person


def test_saving_a_person_again_replaces_all_preferences(people):
    save(people, KIM)
    save(people, replace(KIM, preferences={"service": 1.0}))
    assert people.get("ada", "kim") == Person("ada", "kim", {"service": 1.0}, "ko")


def test_people_are_separate_for_each_owner(people):
    save(people, KIM)
    save(people, Person("bob", "kim"))
    assert people.get("bob", "kim").preferences == {}
    assert people.get("ada", "kim") == KIM
    with pytest.raises(NotFoundError, match="no user 'kim'"):
        people.get("eve", "kim")


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_preferences_that_are_not_finite_numbers_are_rejected(people, number):
    with pytest.raises(InputError, match="preference for food must be a number"):
        save(people, replace(KIM, preferences={"food": number}))
    with pytest.raises(NotFoundError):
        people.get("ada", "kim")


def test_concurrent_changes_are_all_stored(people):
    def add(aspect):
        people.change(
            "ada",
            "kim",
            lambda person: replace(person, preferences={**person.preferences, aspect: 1.0}),
        )

    aspects = [f"aspect {n}" for n in range(8)]
    threads = [threading.Thread(target=add, args=[aspect]) for aspect in aspects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(people.get("ada", "kim").preferences) == aspects


def test_changing_an_unknown_person_creates_it_and_cannot_change_its_id(people):
    changed = people.change("ada", "kim", lambda person: replace(person, id="an", language="ja"))
    assert changed == people.get("ada", "kim") == Person("ada", "kim", {}, "ja")
    with pytest.raises(NotFoundError):
        people.get("ada", "an")
