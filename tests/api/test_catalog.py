import json

import httpx
import pytest

from tests.api.conftest import bearer
from tests.api.serving import events_of, serving
from tests.fakes.openai import Call, Fault, Text, ToolCalls

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

UNDERSTANDING = ToolCalls(Call("catalog_query", ANALYSIS))
"""How a chat model returns its understanding of the question."""


@pytest.fixture
def client(build_client, restaurants):
    return build_client(restaurants=restaurants)


@pytest.fixture
def chat_client(build_client, restaurants):
    return build_client(chat=True, restaurants=restaurants)


def answer_of(client, query=QUESTION, **options):
    response = client.post(SEARCH, json={"query": query, **options})
    assert response.status_code == 200, response.text
    return response.json()


def stream_answer(client, query=QUESTION, **options):
    """The events of an answer: names and data."""
    response = client.post(STREAM, json={"query": query, **options})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return [(name, json.loads(data)) for name, data in events_of(response.text.splitlines())]


def place_ids(answer):
    return [one["place"]["place_id"] for one in answer["restaurants"]]


def test_the_examples_of_the_specification_are_reproduced_exactly(client):
    client.patch(
        "/api/v1/users/kim", json={"preferences": {"food": 3.0, "price": 5.0, "service": 2.0}}
    )
    answer = answer_of(client, user_id="kim")
    understood = answer["understood"]
    assert understood["filters"] == ANALYSIS["filters"]
    assert understood["aspect_weights"] == ANALYSIS["aspect_weights"]
    weights = {"price": 0.1, "ambience": 0.9, "food": 0.6, "service": 0.4}
    neutral = dict.fromkeys(("hygiene", "waiting", "accessibility"), 0.5)
    assert answer["weights"] == weights | neutral


def test_preferences_in_the_request_override_the_stored_ones(client):
    client.patch("/api/v1/users/kim", json={"preferences": {"food": 1, "service": 2}})
    weights = answer_of(client, user_id="kim", user_preferences={"food": 5})["weights"]
    assert (weights["food"], weights["service"]) == (1.0, 0.4)


def test_restaurants_have_the_parts_of_their_scores_and_the_evidence(client):
    answer = answer_of(client)
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


def test_the_events_of_a_stream_have_the_documented_order_and_contain_the_answer(client):
    events = stream_answer(client)
    names = [name for name, _ in events]
    assert list(dict.fromkeys(names)) == ["understood", "ranked", "token", "answered"]
    by_name = dict(events)
    end = by_name["answered"]
    assert by_name["understood"] == {key: end[key] for key in ("understood", "weights")}
    assert by_name["ranked"]["restaurants"] == end["restaurants"]
    text = "".join(data["text"] for name, data in events if name == "token")
    assert text.strip() == end["answer"].strip()


def test_an_understanding_can_be_searched_again_without_one_of_its_filters(client):
    query = "ramen in Brooklyn"
    narrow = answer_of(client, query)
    understood = narrow["understood"]
    assert understood["filters"]["borough_en"] == "Brooklyn"
    assert set(place_ids(narrow)) == {"taro", "lucia"}
    assert place_ids(answer_of(client, query, understood=understood)) == place_ids(narrow)
    understood["filters"]["borough_en"] = None
    wider = answer_of(client, query, understood=understood)
    assert wider["understood"] == understood
    assert set(place_ids(wider)) == {"taro", "lucia", "pronto", "nameless"}


@pytest.mark.parametrize(
    "query",
    [
        "ramen in Brooklyn or Queens",
        "브루클린이나 퀸스 라멘",
        "ブルックリンかクイーンズのラーメン",
    ],
)
def test_a_filter_with_several_values_matches_any_and_each_can_be_removed(client, query):
    narrow = answer_of(client, query)
    understood = narrow["understood"]
    assert understood["filters"]["borough_en"] == ["Brooklyn", "Queens"]
    assert set(place_ids(narrow)) == {"lucia", "pronto", "taro"}
    assert place_ids(answer_of(client, query, understood=understood)) == place_ids(narrow)
    understood["filters"]["borough_en"] = ["Queens"]
    rest = answer_of(client, query, understood=understood)
    assert rest["understood"]["filters"]["borough_en"] == "Queens"
    assert place_ids(rest) == ["pronto"]


@pytest.mark.parametrize(
    "query",
    ["anything but ramen in Brooklyn", "브루클린에서 라멘 말고", "ブルックリンでラーメン以外"],
)
def test_places_of_a_declined_type_are_found_once_the_filter_is_removed(client, query):
    without = answer_of(client, query)
    understood = without["understood"]
    assert understood["filters"]["declined_types"] == ["ramen_restaurant"]
    assert place_ids(without) == ["lucia"]
    assert answer_of(client, query, understood=understood)["understood"] == understood
    understood["filters"]["declined_types"] = []
    assert set(place_ids(answer_of(client, query, understood=understood))) == {"taro", "lucia"}


def test_a_refused_question_is_searched_if_its_analysis_is_sent(client):
    question = "What is the capital of France?"
    refused = answer_of(client, question)
    assert (refused["is_refusal"], refused["restaurants"]) == (True, [])
    answer = answer_of(client, question, understood=refused["understood"])
    assert not answer["is_refusal"]
    assert answer["restaurants"]


def test_there_is_an_answer_even_if_no_place_matches(client):
    answer = answer_of(client, "Italian in the Bronx, at least 4.5 stars")
    assert (answer["restaurants"], answer["citations"]) == ([], [])
    assert answer["answer"]


@pytest.mark.parametrize("path", [SEARCH, STREAM])
@pytest.mark.parametrize(
    ("changes", "status", "name"),
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
def test_an_invalid_search_returns_a_problem_that_names_the_cause(
    client, path, changes, status, name
):
    response = client.post(path, json={"query": QUESTION, **changes})
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert name in response.json()["detail"]


@pytest.mark.parametrize("path", [SEARCH, STREAM])
def test_without_a_catalog_the_problem_says_how_to_add_one(build_client, path):
    response = build_client().post(path, json={"query": QUESTION})
    assert (response.status_code, "catalog add" in response.json()["detail"]) == (409, True)


@pytest.mark.parametrize("path", [SEARCH, STREAM])
def test_a_read_only_key_cannot_ask(build_client, path):
    client = build_client()
    headers = bearer(client.services, "read")
    assert client.post(path, json={"query": QUESTION}, headers=headers).status_code == 403


def test_a_failure_of_the_model_ends_the_stream_with_a_problem(chat_client, model_server):
    model_server.will(UNDERSTANDING, Fault(400))
    events = stream_answer(chat_client)
    assert [name for name, _ in events] == ["understood", "ranked", "error"]
    assert events[-1][1]["status"] == 502
    model_server.will(UNDERSTANDING, Fault(400))
    assert chat_client.post(SEARCH, json={"query": QUESTION}).status_code == 502


def test_a_client_that_disconnects_stops_the_model(chat_client, model_server):
    model_server.will(UNDERSTANDING, Text(*["word "] * 400))
    headers = bearer(chat_client.services)
    with (
        serving(chat_client.services) as url,
        httpx.stream("POST", url + STREAM, json={"query": QUESTION}, headers=headers) as response,
    ):
        lines = events_of(response.iter_lines())
        while next(lines)[0] != "token":
            pass
        response.close()
        assert model_server.hung_up.wait(20)


def test_every_event_is_documented_with_the_schema_of_its_data(build_client):
    description = build_client().get("/api/v1/openapi.json").json()
    content = description["paths"][STREAM]["post"]["responses"]["200"]["content"][
        "text/event-stream"
    ]
    schemas = description["components"]["schemas"]

    def resolve(schema):
        return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    as_events, as_data, as_text = content["schema"]["anyOf"]
    events = [resolve(one)["properties"] for one in resolve(as_events)["anyOf"]]
    assert resolve(as_data)["anyOf"] == [one["data"]["contentSchema"] for one in events]
    assert as_text == {"type": "string"}
    data = {one["event"]["const"]: one["data"]["contentSchema"] for one in events}
    assert list(data) == ["understood", "ranked", "token", "answered", "error"]
    assert set(resolve(data["ranked"])["properties"]) == {"restaurants", "notices"}
    for name in data:
        assert f"event: {name}" in content["example"] or name == "error"
