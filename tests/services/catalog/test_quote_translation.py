"""Quotes are translated by a chat model, through the real client."""

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


def translations(result):
    return [
        [quote.translation for pattern in patterns for quote in pattern.quotes]
        for patterns in result.patterns
    ]


def json_reply(**texts):
    return Text(json.dumps({key.removeprefix("n"): text for key, text in texts.items()}))


def request_texts(request):
    """The texts of a request, by number."""
    return json.loads(request.body["messages"][1]["content"])


def fake_korean(body):
    """Translate into fake Korean: capital letters after a 네."""
    texts = json.loads(body["messages"][1]["content"])
    return Text(json.dumps({n: f"네 {text.upper()}" for n, text in texts.items()}))


def test_quotes_in_another_language_are_translated_in_one_call(model, model_server):
    model_server.will(json_reply(n1="빵이 좋아요.", n2="친절해요."))
    result = translate([[pattern("Good bread.", "맛있어요.")], [pattern("So kind.")]], model, "ko")
    assert translations(result) == [["빵이 좋아요.", ""], ["친절해요."]]
    assert result.notice == ""
    (request,) = model_server.requests
    assert request_texts(request) == {"1": "Good bread.", "2": "So kind."}
    assert "into Korean" in request.body["messages"][0]["content"]


def test_only_the_translation_of_a_pattern_changes(model, model_server):
    model_server.will(json_reply(n1="Good bread."))
    before = pattern("빵이 좋아요.")
    ((after,),) = translate([[before]], model, "en").patterns
    (quote,) = after.quotes
    assert quote == before.quotes[0]._replace(translation="Good bread.")
    assert (after.aspect, after.count, after.reviews) == ("food", 2, 3)


def test_repeated_quotes_are_translated_once(model, model_server):
    model_server.will(json_reply(n1="좋아요."))
    result = translate([[pattern("Good bread."), pattern("Good bread.")]], model, "ko")
    assert translations(result) == [["좋아요.", "좋아요."]]


def test_a_call_has_at_most_twenty_quotes(model, model_server):
    model_server.answer = fake_korean
    result = translate([[pattern(*(f"It is good {n}." for n in range(45)))]], model, "ko")
    assert translations(result) == [[f"네 IT IS GOOD {n}." for n in range(45)]]
    assert sorted(len(request_texts(request)) for request in model_server.requests) == [5, 20, 20]


def test_quotes_beyond_the_limit_are_not_translated(model, model_server):
    model_server.answer = fake_korean
    result = translate([[pattern(f"It is good {n}.")] for n in range(170)], model, "ko")
    assert len(model_server.requests) == 8
    assert [bool(text) for (text,) in translations(result)] == [True] * 160 + [False] * 10


@pytest.mark.parametrize("language", ["en", "ko", "ja"])
def test_nothing_is_translated_without_a_model_or_into_the_same_language(
    model, model_server, language
):
    quotes = {"en": "Good bread.", "ko": "빵이 좋아요.", "ja": "パンがおいしい。"}
    patterns = [[pattern(quotes[language])]]
    assert translations(translate(patterns, model, language)) == [[""]]
    assert translations(translate([[pattern(*quotes.values())]], None, language)) == [["", "", ""]]
    assert model_server.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"1": "빵이 좋아요."}\n```',
        '<think>{"1": "?"}</think>Here you are: {"1": "빵이 좋아요."}',
        '{"1": " 빵이 좋아요. ", "2": "more"}',
    ],
)
def test_text_around_the_json_object_is_ignored(model, model_server, reply):
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
def test_an_invalid_reply_is_repaired_once(model, model_server, reply):
    model_server.will(Text(reply), json_reply(n1="빵이 좋아요."))
    result = translate([[pattern("Good bread.")]], model, "ko")
    assert translations(result) == [["빵이 좋아요."]]
    *_, invalid, repair = model_server.requests[1].body["messages"]
    assert (invalid["role"], invalid["content"]) == ("assistant", reply)
    assert "these numbers: 1." in repair["content"]


def test_valid_translations_are_kept_and_only_the_rest_is_requested_again(model, model_server):
    model_server.will(json_reply(n1="빵이 좋아요."), json_reply(n2="친절해요.", n1="다른 말"))
    result = translate([[pattern("Good bread.", "So kind.")]], model, "ko")
    assert translations(result) == [["빵이 좋아요.", "친절해요."]]
    assert "these numbers: 2." in model_server.requests[1].body["messages"][-1]["content"]


def test_a_quote_stays_untranslated_after_two_invalid_replies(model, model_server):
    model_server.will(Text("No."), Text("No!"))
    assert translations(translate([[pattern("Good bread.")]], model, "ko")) == [[""]]
    assert len(model_server.requests) == 2


def test_a_failing_model_is_a_notice(model, model_server):
    model_server.will(Fault(500))
    result = translate([[pattern("Good bread.")]], model, "ko")
    assert translations(result) == [[""]]
    assert "HTTP 500" in result.notice
    assert len(model_server.requests) == 1


def test_valid_translations_survive_a_failing_repair(model, model_server):
    model_server.will(json_reply(n1="빵이 좋아요."), Fault(500))
    result = translate([[pattern("Good bread.", "So kind.")]], model, "ko")
    assert translations(result) == [["빵이 좋아요.", ""]]
    assert "HTTP 500" in result.notice


def test_a_translation_with_a_lone_surrogate_can_be_encoded(model, model_server):
    model_server.will(Text('{"1": "빵 \\ud83d"}'))
    ((translation,),) = translations(translate([[pattern("Good bread.")]], model, "ko"))
    assert translation.encode()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("맛있어요", "ko", True),
        ("味が良い", "ja", True),
        ("Good.", "ko", False),
        ("Très bon.", "en", True),
        ("5/5!", "ja", True),
    ],
)
def test_the_language_of_a_text_is_detected_by_its_script(text, language, expected):
    assert is_in(text, language) == expected
