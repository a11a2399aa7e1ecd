import math
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Person
from errors import InputError, NotFoundError
from storage.ledger.database import open_database
from storage.ledger.people_store import People

KIM = Person("ada", "kim", {"food": 4.5, "price": 0.0}, "ko")


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return open_database(tmp_path_factory.mktemp("people"))


@pytest.fixture
def people(tmp_path):
    return People(open_database(tmp_path))


def keep(people, person):
    people.change(person.owner_id, person.id, lambda _: person)


@given(
    person=st.builds(
        Person,
        st.text(),
        st.text(),
        st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)),
        st.sampled_from(["", "en", "ko", "ja"]),
    )
)
def test_who_is_kept_is_who_is_found(database, person):
    people = People(database)
    keep(people, person)
    assert people.get(person.owner_id, person.id) == person


def test_saving_again_replaces(people):
    keep(people, KIM)
    keep(people, replace(KIM, preferences={"service": 1.0}))
    assert people.get("ada", "kim") == Person("ada", "kim", {"service": 1.0}, "ko")


def test_owners_do_not_see_each_other_s_people(people):
    keep(people, KIM)
    keep(people, Person("bob", "kim"))
    assert people.get("bob", "kim").preferences == {}
    assert people.get("ada", "kim") == KIM
    with pytest.raises(NotFoundError, match="no user 'kim'"):
        people.get("eve", "kim")


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_preference_that_is_no_number_is_not_kept(people, number):
    with pytest.raises(InputError, match="preference for food must be a number"):
        keep(people, replace(KIM, preferences={"food": number}))
    with pytest.raises(NotFoundError):
        people.get("ada", "kim")


def test_changes_at_the_same_time_are_all_kept(people):
    def add(aspect):
        people.change(
            "ada", "kim", lambda was: replace(was, preferences={**was.preferences, aspect: 1.0})
        )

    aspects = [f"aspect {n}" for n in range(8)]
    threads = [threading.Thread(target=add, args=[aspect]) for aspect in aspects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(people.get("ada", "kim").preferences) == aspects


def test_a_change_starts_from_nobody_and_can_t_give_somebody_another_name(people):
    changed = people.change("ada", "kim", lambda was: replace(was, id="an", language="ja"))
    assert changed == people.get("ada", "kim") == Person("ada", "kim", {}, "ja")
    with pytest.raises(NotFoundError):
        people.get("ada", "an")
