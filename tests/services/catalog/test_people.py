import math

import pytest

from domain import ASPECTS, LOCAL_USER, Person, Principal
from domain.errors import ConflictError, InputError, NotFoundError
from services.access import Access
from services.catalog.preferences import PeopleService
from storage.ledger.database import open_database
from storage.ledger.people_store import People
from storage.ledger.restriction_store import Restrictions
from storage.ledger.source_store import Sources

DEVICES = {
    "catalog": "Devices",
    "places": "devices.csv",
    "id": "id",
    "title": "name",
    "aspects": {"battery": {"about": {"en": ["battery"]}}, "price": {}},
}
RESTAURANTS = {"catalog": "Restaurants", "places": "p.csv", "id": "id", "title": "name"}


@pytest.fixture
def people(tmp_path):
    database = open_database(tmp_path)
    return PeopleService(People(database), Access(Sources(database), Restrictions(database)))


def add(people, description):
    name = description["catalog"]
    options = {"description": description}
    return people.access.sources.ensure("catalogue", f"/{name}", name=name, options=options)


def test_the_first_patch_creates_a_person(people):
    kim = people.patch(LOCAL_USER, "kim", {"food": 4.5, "price": 0}, "ko")
    assert kim == Person("local", "kim", {"food": 4.5, "price": 0.0}, "ko")
    assert people.get(LOCAL_USER, "kim") == kim


def test_preferences_are_changed_individually(people):
    people.patch(LOCAL_USER, "kim", {"food": 4.5, "price": 0, "service": 1}, "ko")
    kim = people.patch(LOCAL_USER, "kim", {"price": None, "service": 2, "waiting": 5})
    assert kim.preferences == {"food": 4.5, "service": 2.0, "waiting": 5.0}
    assert kim.language == "ko"
    assert people.patch(LOCAL_USER, "kim", language="") == Person("local", "kim", kim.preferences)


def test_people_are_visible_only_to_their_principal(people):
    people.patch(LOCAL_USER, "kim")
    people.patch(LOCAL_USER, "an")
    people.patch(Principal("bert"), "kim", {"food": 1})
    assert people.get(LOCAL_USER, "kim").preferences == {}
    with pytest.raises(NotFoundError, match="no user 'an'"):
        people.get(Principal("bert"), "an")


@pytest.mark.parametrize(
    ("preferences", "message"),
    [
        ({"food": 7}, "preference for food must be a number from 0 to 5"),
        ({"food": -0.1}, "preference for food"),
        ({"food": math.nan}, "preference for food"),
        ({"food": "4"}, "preference for food"),
        ({"food": True}, "preference for food"),
        ({"foood": 3}, "no aspect 'foood'. Did you mean 'food'"),
        ({"foood": None}, "no aspect 'foood'"),
    ],
)
def test_invalid_preferences_are_rejected_and_nothing_is_stored(people, preferences, message):
    with pytest.raises(InputError, match=message):
        people.patch(LOCAL_USER, "kim", {"service": 1, **preferences})
    with pytest.raises(NotFoundError):
        people.get(LOCAL_USER, "kim")


@pytest.mark.parametrize("user_id", ["", " ", "k" * 201, "\udc80"])
def test_an_invalid_user_id_is_rejected(people, user_id):
    with pytest.raises(InputError, match="id of (a|the) user"):
        people.patch(LOCAL_USER, user_id, {"food": 1})


def test_an_unsupported_language_is_rejected(people):
    with pytest.raises(InputError, match="Unsupported language 'fr'"):
        people.patch(LOCAL_USER, "kim", language="fr")


def test_without_a_catalog_the_default_aspects_are_accepted(people):
    assert people.aspects(LOCAL_USER) == ASPECTS


def test_only_aspects_of_the_catalogs_are_accepted(people):
    add(people, DEVICES)
    assert people.aspects(LOCAL_USER) == ("battery", "price")
    with pytest.raises(InputError, match="no aspect 'food'"):
        people.patch(LOCAL_USER, "kim", {"food": 1})
    add(people, RESTAURANTS)
    assert set(people.aspects(LOCAL_USER)) == {"battery", *ASPECTS}
    assert people.patch(LOCAL_USER, "kim", {"food": 1, "battery": 2}).preferences == {
        "battery": 2.0,
        "food": 1.0,
    }


def test_a_preference_for_a_removed_aspect_can_be_deleted(people):
    people.patch(LOCAL_USER, "kim", {"food": 1, "price": 3})
    add(people, DEVICES)
    assert people.patch(LOCAL_USER, "kim", {"battery": 1}).preferences == {
        "food": 1.0, "price": 3.0, "battery": 1.0,
    }  # fmt: skip
    assert people.patch(LOCAL_USER, "kim", {"food": None}).preferences == {
        "price": 3.0, "battery": 1.0,
    }  # fmt: skip


def test_the_error_names_each_aspect_once(people):
    people.patch(LOCAL_USER, "kim", {"food": 1})
    with pytest.raises(ConflictError) as caught:
        people.patch(LOCAL_USER, "kim", {"spice": None})
    assert str(caught.value).endswith(f"The aspects are {', '.join(ASPECTS)}.")
