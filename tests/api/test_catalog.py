import json

import httpx
import pytest

from tests.api.conftest import bearer
from tests.api.serving import events_of, serving
from tests.fakes.openai import Call, Fault, Text, ToolCalls
from tests.fakes.restaurants import import_restaurants

SEARCH, STREAM = "/api/v1/chat/search", "/api/v1/chat/search/stream"
QUESTION = "가격 비싸도 괜찮으니 분위기 좋은 이탈리안"
ANALYSIS = {
    "query_en": "italian restaurant with a good ambience",
    "filters": {"borough_en": None, "desired_types": ["italian_restaurant"], "min_rating": None},
    "aspect_weights": {
        **dict.fromkeys(("food", "service", "hygiene", "waiting", "accessibility")),
        "ambience": 0.9,
        "price": 0.1,
    },
}

READ = ToolCalls(Call("catalog_query", ANALYSIS))
"""How a chat model tells what it read in the question."""


@pytest.fixture
def client(call, tmp_path):
    client = call()
    import_restaurants(client.services, tmp_path / "restaurants")
    return client


@pytest.fixture
def chatting(call, tmp_path):
    client = call(chat=True)
    import_restaurants(client.services, tmp_path / "restaurants")
    return client


def answered(client, query=QUESTION, **given):
    response = client.post(SEARCH, json={"query": query, **given})
    assert response.status_code == 200, response.text
    return response.json()


def streamed(client, query=QUESTION, **given):
    """The events of an answer: names and data."""
    response = client.post(STREAM, json={"query": query, **given})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return [(name, json.loads(data)) for name, data in events_of(response.text.splitlines())]


def found(answer):
    return [one["place"]["place_id"] for one in answer["restaurants"]]


def test_the_examples_of_the_specification_are_answered_to_the_digit(client):
    client.patch(
        "/api/v1/users/kim", json={"preferences": {"food": 3.0, "price": 5.0, "service": 2.0}}
    )
    answer = answered(client, user_id="kim")
    said = answer["understood"]
    assert said["filters"] == ANALYSIS["filters"]
    assert said["aspect_weights"] == ANALYSIS["aspect_weights"]
    weights = {"price": 0.1, "ambience": 0.9, "food": 0.6, "service": 0.4}
    neutral = dict.fromkeys(("hygiene", "waiting", "accessibility"), 0.5)
    assert answer["weights"] == weights | neutral


def test_what_the_request_prefers_goes_before_what_is_kept(client):
    client.patch("/api/v1/users/kim", json={"preferences": {"food": 1, "service": 2}})
    weights = answered(client, user_id="kim", user_preferences={"food": 5})["weights"]
    assert (weights["food"], weights["service"]) == (1.0, 0.4)


def test_restaurants_come_with_the_parts_of_their_scores_and_what_proves_them(client):
    answer = answered(client)
    first = answer["restaurants"][0]
    assert first["place"]["place_id"] == "lucia"
    assert first["score"] == pytest.approx(sum(part["share"] for part in first["parts"]))
    for part in first["parts"]:
        assert part["share"] == pytest.approx(part["value"] * part["weight"])
    text = client.services.library.documents.text(first["place"]["document_id"])
    for passage in first["passages"]:
        assert text[passage["start"] : passage["end"]] == passage["text"]
    assert first["patterns"][0]["rank"] == 1
    assert "ambience" in first["tags"]
    assert {one["state"] for one in answer["citations"]} == {"verified"}
    assert {one["n"] for one in answer["citations"]} <= {one["n"] for one in answer["sources"]}
    assert (answer["language"], answer["unsupported_sentences"]) == ("ko", 0)
    assert any("FOOTNOTE_RERANK_PROVIDER" in notice for notice in answer["notices"])
    assert answer["model"]


def test_the_events_of_a_stream_come_in_the_order_that_is_told_and_hold_the_answer(client):
    events = streamed(client)
    names = [name for name, _ in events]
    assert list(dict.fromkeys(names)) == ["understood", "ranked", "token", "answered"]
    told = dict(events)
    end = told["answered"]
    assert told["understood"] == {key: end[key] for key in ("understood", "weights")}
    assert told["ranked"]["restaurants"] == end["restaurants"]
    written = "".join(data["text"] for name, data in events if name == "token")
    assert written.strip() == end["answer"].strip()


def test_an_understanding_is_searched_for_again_once_a_filter_is_taken_from_it(client):
    query = "ramen in Brooklyn"
    narrow = answered(client, query)
    understood = narrow["understood"]
    assert understood["filters"]["borough_en"] == "Brooklyn"
    assert set(found(narrow)) == {"taro", "lucia"}
    assert found(answered(client, query, understood=understood)) == found(narrow)
    understood["filters"]["borough_en"] = None
    wider = answered(client, query, understood=understood)
    assert wider["understood"] == understood
    assert set(found(wider)) == {"taro", "lucia", "pronto", "nameless"}


@pytest.mark.parametrize(
    "query",
    [
        "ramen in Brooklyn or Queens",
        "브루클린이나 퀸스 라멘",
        "ブルックリンかクイーンズのラーメン",
    ],
)
def test_places_have_any_of_several_values_and_each_can_be_taken_out(client, query):
    narrow = answered(client, query)
    understood = narrow["understood"]
    assert understood["filters"]["borough_en"] == ["Brooklyn", "Queens"]
    assert set(found(narrow)) == {"lucia", "pronto", "taro"}
    assert found(answered(client, query, understood=understood)) == found(narrow)
    understood["filters"]["borough_en"] = ["Queens"]
    left = answered(client, query, understood=understood)
    assert left["understood"]["filters"]["borough_en"] == "Queens"
    assert found(left) == ["pronto"]


@pytest.mark.parametrize(
    "query",
    ["anything but ramen in Brooklyn", "브루클린에서 라멘 말고", "ブルックリンでラーメン以外"],
)
def test_places_of_a_type_that_is_declined_come_once_it_is_taken_back(client, query):
    without = answered(client, query)
    understood = without["understood"]
    assert understood["filters"]["declined_types"] == ["ramen_restaurant"]
    assert found(without) == ["lucia"]
    assert answered(client, query, understood=understood)["understood"] == understood
    understood["filters"]["declined_types"] = []
    assert set(found(answered(client, query, understood=understood))) == {"taro", "lucia"}


def test_where_no_place_fits_the_answer_says_so(client):
    answer = answered(client, "Italian in the Bronx, at least 4.5 stars")
    assert (answer["restaurants"], answer["citations"]) == ([], [])
    assert answer["answer"]


@pytest.mark.parametrize("path", [SEARCH, STREAM])
@pytest.mark.parametrize(
    ("given", "status", "named"),
    [
        ({"query": " "}, 422, "query"),
        ({"user_id": "nobody"}, 404, "nobody"),
        ({"user_id": ""}, 422, "user_id"),
        ({"user_id": "k" * 201}, 422, "user_id"),
        ({"catalogue": "homes"}, 409, "homes"),
        ({"user_preferences": {"food": 7}}, 422, "food"),
        ({"user_preferences": {"spice": 3}}, 409, "spice"),
        ({"language": "fr"}, 422, "language"),
        ({"filters": {}}, 422, "filters"),
        ({"understood": {"query_en": "x", "filters": {"city": "Bath"}}}, 409, "city"),
        ({"understood": {"query_en": "x", "filters": {"min_rating": -1}}}, 422, "min_rating"),
        ({"understood": {"query_en": "x", "filters": {"borough_en": [3]}}}, 422, "borough_en"),
        (
            {"understood": {"query_en": "x", "filters": {"declined_types": "bar"}}},
            422,
            "declined_types",
        ),
        ({"understood": {"query_en": "x", "aspect_weights": {"spice": 1}}}, 409, "spice"),
        ({"understood": {"query_en": "x", "aspect_weights": {"food": 2}}}, 422, "food"),
    ],
)
def test_what_can_t_be_asked_is_a_plain_problem_that_names_it(client, path, given, status, named):
    response = client.post(path, json={"query": QUESTION, **given})
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert named in response.json()["detail"]


@pytest.mark.parametrize("path", [SEARCH, STREAM])
def test_without_a_catalog_it_is_told_how_to_add_one(call, path):
    response = call().post(path, json={"query": QUESTION})
    assert (response.status_code, "catalog add" in response.json()["detail"]) == (409, True)


@pytest.mark.parametrize("path", [SEARCH, STREAM])
def test_a_key_that_may_only_read_asks_nothing(call, path):
    client = call()
    headers = bearer(client.services, "read")
    assert client.post(path, json={"query": QUESTION}, headers=headers).status_code == 403


def test_a_model_that_fails_ends_the_stream_with_the_problem(chatting, model_server):
    model_server.will(READ, Fault(400))
    events = streamed(chatting)
    assert [name for name, _ in events] == ["understood", "ranked", "error"]
    assert events[-1][1]["status"] == 502
    model_server.will(READ, Fault(400))
    assert chatting.post(SEARCH, json={"query": QUESTION}).status_code == 502


def test_a_caller_that_goes_away_ends_what_the_model_is_writing(chatting, model_server):
    model_server.will(READ, Text(*["word "] * 400))
    headers = bearer(chatting.services)
    with (
        serving(chatting.services) as url,
        httpx.stream("POST", url + STREAM, json={"query": QUESTION}, headers=headers) as response,
    ):
        lines = events_of(response.iter_lines())
        while next(lines)[0] != "token":
            pass
        response.close()
        assert model_server.hung_up.wait(20)


def test_every_event_is_described_with_the_schema_of_its_data(call):
    told = call().get("/api/v1/openapi.json").json()
    content = told["paths"][STREAM]["post"]["responses"]["200"]["content"]["text/event-stream"]
    schemas = told["components"]["schemas"]

    def named(schema):
        return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    events = [named(one)["properties"] for one in named(content["schema"])["anyOf"]]
    data = {one["event"]["const"]: one["data"]["contentSchema"] for one in events}
    assert list(data) == ["understood", "ranked", "token", "answered", "error"]
    assert set(named(data["ranked"])["properties"]) == {"restaurants", "notices"}
    for name in data:
        assert f"event: {name}" in content["example"] or name == "error"
