from unicodedata import normalize
from urllib.parse import quote

import pytest

from domain import LOCAL_USER, Principal
from tests.api.conftest import bearer
from tests.fakes.restaurants import PLACES, import_restaurants

USERS, RESTAURANTS, CATALOGS = "/api/v1/users", "/api/v1/restaurants", "/api/v1/catalogues"


@pytest.fixture
def client(build_client, restaurants):
    client = build_client(restaurants=restaurants)
    [catalog] = client.services.catalog.catalogs(LOCAL_USER)
    client.catalog = catalog.id
    return client


def ids(client, **query):
    answer = client.get(RESTAURANTS, params=query)
    assert answer.status_code == 200, answer.text
    return [one["place_id"] for one in answer.json()["items"]]


def problem(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["detail"]


def test_catalogs_list_what_questions_may_name(client):
    page = client.get(CATALOGS).json()
    assert page["total"] == 1
    [catalog] = page["items"]
    assert (catalog["id"], catalog["name"]) == (client.catalog, "Restaurants")
    assert (catalog["places"], catalog["rating_scale"]) == (4, 5.0)
    assert catalog["filters"] == {"borough_en": ["Bronx", "Brooklyn", "Queens"]}
    assert "ambience" in catalog["aspects"]
    assert catalog["groups"]["korean"]["ko"] == "한국인 리뷰"
    assert client.get(CATALOGS, params={"offset": 1}).json() == {"items": [], "total": 1}


def test_places_are_listed_by_title_and_in_pages(client):
    assert ids(client) == ["nameless", "pronto", "taro", "lucia"]
    page = client.get(RESTAURANTS, params={"limit": 1, "offset": 2}).json()
    assert page["total"] == 4
    [taro] = page["items"]
    assert taro["title"] == "Ramen Taro"
    assert taro["fields"] == {"borough_en": "Brooklyn"}
    assert taro["facts"] == {"address": "5 Bay Street"}
    assert (taro["rating"], taro["latitude"], taro["longitude"]) == (4.2, 40.65, -73.95)
    assert taro["catalogue_id"] == client.catalog


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("data", ["NFC", "NFD"])
def test_ids_values_and_types_are_found_in_any_unicode_form(client, tmp_path, data, form):
    id_, area, kind = (normalize(data, text) for text in ("카페 1", "브루클린", "카페"))
    place = {**PLACES[0], "place_id": id_, "borough": area, "types": [kind]}
    import_restaurants(client.services, tmp_path / "cafes", [place], catalog="Cafes")
    id_, area, kind = (normalize(form, text) for text in (id_, area, kind))
    answer = client.get(f"{RESTAURANTS}/{quote(id_)}", params={"catalogue": "Cafes"})
    assert answer.status_code == 200, answer.text
    stored = answer.json()["place"]
    assert (stored["place_id"], stored["types"]) == ("카페 1", ["카페"])
    assert stored["fields"] == {"borough_en": "브루클린"}
    assert ids(client, catalogue="Cafes", field=f"borough_en:{area}") == ["카페 1"]
    assert ids(client, catalogue="Cafes", type=kind) == ["카페 1"]


def test_places_can_be_filtered_by_fields_types_and_rating(client):
    assert ids(client, field="borough_en:Brooklyn") == ["taro", "lucia"]
    assert ids(client, field=["borough_en:Brooklyn"] * 2) == ["taro", "lucia"]
    assert ids(client, field=["borough_en:Bronx", "borough_en:Queens"]) == ["nameless", "pronto"]
    assert ids(client, type=["ramen_restaurant", "american_restaurant"]) == ["nameless", "taro"]
    assert ids(client, min_rating=4.2) == ["taro", "lucia"]
    assert ids(client, field="borough_en:Brooklyn", min_rating=4.5, type="bar") == []
    assert ids(client, catalogue="Restaurants", limit=1) == ["nameless"]


@pytest.mark.parametrize(
    ("query", "status", "name"),
    [
        ({"field": "city:Bath"}, 409, "city"),
        ({"field": "Brooklyn"}, 422, "field: 'Brooklyn' is not a filter: write name:value"),
        ({"field": ":Brooklyn"}, 422, "field: ':Brooklyn' is not a filter"),
        ({"min_rating": "NaN"}, 422, "min_rating"),
        ({"min_rating": "-1"}, 422, "min_rating"),
        ({"borough_en": "Brooklyn"}, 422, "borough_en"),
        ({"catalogue": "homes"}, 409, "homes"),
    ],
)
def test_an_invalid_filter_returns_a_problem_that_names_it(client, query, status, name):
    actual, detail = problem(client.get(RESTAURANTS, params=query))
    assert actual == status
    assert name in detail


def test_a_place_has_its_reviews_and_their_recurring_statements(client):
    details = client.get(f"{RESTAURANTS}/lucia").json()
    assert details["place"]["title"] == "Trattoria Lucia"
    assert [one["text"] for one in details["reviews"]] == [
        one["text"] for one in PLACES[0]["reviews"]
    ]
    first = details["reviews"][0]
    assert details["text"][first["start"] : first["end"]] == first["text"]
    assert (first["group"], first["rating"], first["date"]) == ("local", 5.0, "")
    [pattern, *_] = details["patterns"]
    quote = pattern["quotes"][0]
    assert (pattern["aspect"], pattern["praises"], pattern["count"]) == ("ambience", True, 2)
    assert details["text"][quote["start"] : quote["end"]] == quote["text"]
    assert "ambience" in details["tags"]


def test_a_missing_place_is_not_found(client):
    status, detail = problem(client.get(f"{RESTAURANTS}/nowhere"))
    assert (status, "nowhere" in detail) == (404, True)


def test_a_place_id_may_contain_any_characters(build_client, tmp_path):
    client = build_client()
    odd = [{**PLACES[0], "place_id": one} for one in ("a/b", "서울 1", "50%?")]
    import_restaurants(client.services, tmp_path / "odd", odd)
    assert ids(client) == sorted(one["place_id"] for one in odd)
    for one in odd:
        place_id = one["place_id"]
        assert (
            client.get(f"{RESTAURANTS}/{quote(place_id)}").json()["place"]["place_id"] == place_id
        )


def test_one_of_several_catalogs_must_be_named(client, tmp_path):
    import_restaurants(client.services, tmp_path / "more", PLACES[:1], catalog="Bistros")
    status, detail = problem(client.get(RESTAURANTS))
    assert (status, "Bistros" in detail) == (409, True)
    assert ids(client, catalogue="Bistros") == ["lucia"]
    assert client.get(f"{RESTAURANTS}/taro", params={"catalogue": "Bistros"}).status_code == 404
    assert client.get(f"{RESTAURANTS}/taro", params={"catalogue": client.catalog}).is_success


def test_without_a_catalog_the_problem_says_how_to_add_one(build_client):
    client = build_client()
    assert client.get(CATALOGS).json() == {"items": [], "total": 0}
    for path in (RESTAURANTS, f"{RESTAURANTS}/lucia"):
        status, detail = problem(client.get(path))
        assert (status, "catalog add" in detail) == (409, True)


def test_preferences_can_be_changed_one_by_one(build_client):
    client = build_client()
    assert problem(client.get(f"{USERS}/kim"))[0] == 404
    body = {"preferences": {"food": 4.5, "price": 0}, "language": "ko"}
    kim = {"id": "kim", **body}
    assert client.patch(f"{USERS}/kim", json=body).json() == kim
    assert client.get(f"{USERS}/kim").json() == kim
    change = {"preferences": {"price": None, "service": 2}}
    changed = client.patch(f"{USERS}/kim", json=change).json()
    assert changed == {**kim, "preferences": {"food": 4.5, "service": 2.0}}
    assert client.patch(f"{USERS}/kim", json={"language": ""}).json()["language"] == ""


@pytest.mark.parametrize(
    ("change", "status", "name"),
    [
        ({"preferences": {"food": 7}}, 422, "food"),
        ({"preferences": {"food": "4"}}, 422, "food"),
        ({"preferences": {"food": True}}, 422, "food"),
        ({"preferences": {"spice": 3}}, 409, "spice"),
        ({"preferences": {"spice": None}}, 409, "spice"),
        ({"language": "fr"}, 422, "language"),
        ({"name": "Kim"}, 422, "name"),
    ],
)
def test_an_invalid_preference_returns_a_problem_that_names_it(build_client, change, status, name):
    client = build_client()
    actual, detail = problem(client.patch(f"{USERS}/kim", json=change))
    assert actual == status
    assert name in detail
    assert client.get(f"{USERS}/kim").status_code == 404


@pytest.mark.parametrize("user_id", ["kim/seoul", "김 영", "50%?"])
def test_a_user_id_may_contain_any_characters(build_client, user_id):
    client = build_client()
    path = f"{USERS}/{quote(user_id, safe='')}"
    assert client.patch(path, json={"preferences": {"food": 1}}).json()["id"] == user_id
    assert client.get(path).json()["preferences"] == {"food": 1.0}


def test_user_ids_over_200_characters_are_rejected(build_client):
    status, detail = problem(build_client().get(f"{USERS}/{'k' * 201}"))
    assert (status, "user_id" in detail) == (422, True)


def test_a_preference_of_nan_is_rejected(build_client):
    body = {"content": b'{"preferences": {"food": NaN}}'}
    headers = {"Content-Type": "application/json"}
    assert build_client().patch(f"{USERS}/kim", headers=headers, **body).status_code == 422


def test_each_principal_has_separate_users(build_client):
    client = build_client()
    client.patch(f"{USERS}/kim", json={"preferences": {"food": 1}})
    bert = bearer(client.services, principal=Principal("bert"))
    assert client.get(f"{USERS}/kim", headers=bert).status_code == 404
    client.patch(f"{USERS}/kim", json={"preferences": {"food": 5}}, headers=bert)
    assert client.get(f"{USERS}/kim").json()["preferences"] == {"food": 1.0}
