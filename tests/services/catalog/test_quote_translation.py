"""Quotes in the person's language, by a chat model over the true client."""

import json

import pytest

from domain import Pattern, Quote
from models.chat_choice import ChatSpec, build_chat_model
from services.catalog.quote_translation import is_in, translate
from tests.fakes.openai import MODEL, Fault, Text


@pytest.fixture
def model(model_server):
    return build_chat_model(ChatSpec(MODEL, base_url=model_server.url))


def pattern(*texts):
    quotes = tuple(Quote(text, 0, len(text)) for text in texts)
    return Pattern("food", "local", True, 2, 3, quotes)


def translations(told):
    return [[quote.translation for one in of for quote in one.quotes] for of in told.patterns]


def as_json(**told):
    return Text(json.dumps({key.removeprefix("n"): value for key, value in told.items()}))


def asked(request):
    """The texts by number of a request."""
    return json.loads(request.body["messages"][1]["content"])


def in_capitals(body):
    """A model for which Korean is English in capitals behind a 네."""
    texts = json.loads(body["messages"][1]["content"])
    return Text(json.dumps({n: f"네 {text.upper()}" for n, text in texts.items()}))


def test_quotes_in_another_language_are_translated_in_one_call(model, model_server):
    model_server.will(as_json(n1="빵이 좋아요.", n2="친절해요."))
    told = translate([[pattern("Good bread.", "맛있어요.")], [pattern("So kind.")]], model, "ko")
    assert translations(told) == [["빵이 좋아요.", ""], ["친절해요."]]
    assert told.notice == ""
    (request,) = model_server.requests
    assert asked(request) == {"1": "Good bread.", "2": "So kind."}
    assert "into Korean" in request.body["messages"][0]["content"]


def test_all_else_of_the_patterns_stays_as_it_is(model, model_server):
    model_server.will(as_json(n1="Good bread."))
    before = pattern("빵이 좋아요.")
    ((after,),) = translate([[before]], model, "en").patterns
    (quote,) = after.quotes
    assert quote == before.quotes[0]._replace(translation="Good bread.")
    assert (after.aspect, after.count, after.reviews) == ("food", 2, 3)


def test_the_same_words_are_asked_for_once(model, model_server):
    model_server.will(as_json(n1="좋아요."))
    told = translate([[pattern("Good bread."), pattern("Good bread.")]], model, "ko")
    assert translations(told) == [["좋아요.", "좋아요."]]


def test_a_call_has_at_most_twenty_quotes(model, model_server):
    model_server.answer = in_capitals
    told = translate([[pattern(*(f"It is good {n}." for n in range(45)))]], model, "ko")
    assert translations(told) == [[f"네 IT IS GOOD {n}." for n in range(45)]]
    assert sorted(len(asked(one)) for one in model_server.requests) == [5, 20, 20]


def test_the_first_places_go_before_what_is_too_much(model, model_server):
    model_server.answer = in_capitals
    told = translate([[pattern(f"It is good {n}.")] for n in range(170)], model, "ko")
    assert len(model_server.requests) == 8
    assert [bool(one) for (one,) in translations(told)] == [True] * 160 + [False] * 10


@pytest.mark.parametrize("language", ["en", "ko", "ja"])
def test_nothing_is_asked_without_a_model_or_for_ones_own_language(model, model_server, language):
    own = {"en": "Good bread.", "ko": "빵이 좋아요.", "ja": "パンがおいしい。"}
    patterns = [[pattern(own[language])]]
    assert translations(translate(patterns, model, language)) == [[""]]
    assert translations(translate([[pattern(*own.values())]], None, language)) == [["", "", ""]]
    assert model_server.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"1": "빵이 좋아요."}\n```',
        '<think>{"1": "?"}</think>Here you are: {"1": "빵이 좋아요."}',
        '{"1": " 빵이 좋아요. ", "2": "more"}',
    ],
)
def test_what_a_model_writes_around_the_object_does_not_matter(model, model_server, reply):
    model_server.will(Text(reply))
    assert translations(translate([[pattern("Good bread.")]], model, "ko")) == [["빵이 좋아요."]]
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "I can't.",
        "[1, 2]",
        '{"1": "빵',
        '{"2": "빵이 좋아요."}',
        '{"1": null}',
        '{"1": ["빵"]}',
        '{"1": " "}',
        '{"1": "Good bread."}',
        json.dumps({"1": "빵이 좋아요. " * 100}),
    ],
)
def test_a_wrong_reply_is_repaired_once(model, model_server, reply):
    model_server.will(Text(reply), as_json(n1="빵이 좋아요."))
    told = translate([[pattern("Good bread.")]], model, "ko")
    assert translations(told) == [["빵이 좋아요."]]
    *_, again, repair = model_server.requests[1].body["messages"]
    assert (again["role"], again["content"]) == ("assistant", reply)
    assert "these numbers: 1." in repair["content"]


def test_what_was_right_is_kept_and_only_the_rest_asked_for_again(model, model_server):
    model_server.will(as_json(n1="빵이 좋아요."), as_json(n2="친절해요.", n1="다른 말"))
    told = translate([[pattern("Good bread.", "So kind.")]], model, "ko")
    assert translations(told) == [["빵이 좋아요.", "친절해요."]]
    assert "these numbers: 2." in model_server.requests[1].body["messages"][-1]["content"]


def test_what_is_wrong_twice_stays_in_the_original(model, model_server):
    model_server.will(Text("No."), Text("No!"))
    assert translations(translate([[pattern("Good bread.")]], model, "ko")) == [[""]]
    assert len(model_server.requests) == 2


def test_a_model_that_fails_loses_nothing_and_the_notice_says_why(model, model_server):
    model_server.will(Fault(500))
    told = translate([[pattern("Good bread.")]], model, "ko")
    assert translations(told) == [[""]]
    assert "HTTP 500" in told.notice
    assert len(model_server.requests) == 1


def test_a_model_that_fails_at_the_repair_keeps_what_was_right(model, model_server):
    model_server.will(as_json(n1="빵이 좋아요."), Fault(500))
    told = translate([[pattern("Good bread.", "So kind.")]], model, "ko")
    assert translations(told) == [["빵이 좋아요.", ""]]
    assert "HTTP 500" in told.notice


def test_half_a_character_of_a_careless_server_can_be_stored(model, model_server):
    model_server.will(Text('{"1": "빵 \\ud83d"}'))
    ((translation,),) = translations(translate([[pattern("Good bread.")]], model, "ko"))
    assert translation.encode()


@pytest.mark.parametrize(
    ("text", "language", "is_so"),
    [
        ("맛있어요", "ko", True),
        ("味が良い", "ja", True),
        ("Good.", "ko", False),
        ("Très bon.", "en", True),
        ("5/5!", "ja", True),
    ],
)
def test_a_text_is_in_a_language_as_far_as_its_writing_tells(text, language, is_so):
    assert is_in(text, language) == is_so
