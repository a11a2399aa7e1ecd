import openai
import pytest

from domain import ApiScope
from tests.api.openai.conversations import QUESTION, chat_messages
from tests.fakes.openai import Fault, Text

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {}}}
FUNCTION_RESULT = {"role": "function", "name": "look", "content": "x"}


def ask(client, model="footnote", messages=None, **more):
    conversation = chat_messages(QUESTION) if messages is None else messages
    return client.chat.completions.create(model=model, messages=conversation, **more)


def error_of(client, kind, **parameters):
    with pytest.raises(kind) as raised:
        ask(client, **parameters)
    assert set(raised.value.body) == {"message", "type", "param", "code"}
    return raised.value


def test_a_wrong_key_is_reported(build_client):
    error = error_of(build_client(key="fn-wrong"), openai.AuthenticationError)
    assert (error.code, error.type) == ("invalid_api_key", "authentication_error")
    assert "api-key create" in error.message


def test_a_key_without_the_scope_ask_can_only_read(build_client):
    client = build_client(ApiScope.READ)
    assert "`ask`" in error_of(client, openai.PermissionDeniedError).message
    assert list(client.models.list())


def test_a_key_with_only_the_scope_ask_can_ask_and_list_models(build_client):
    client = build_client(ApiScope.ASK)
    assert ask(client)
    assert list(client.models.list())
    with pytest.raises(openai.PermissionDeniedError, match="`read`"):
        client.embeddings.create(model="multilingual-e5-small", input="leave")


@pytest.mark.parametrize("model", ["gpt-4o", "footnote-agent", "multilingual-e5-small"])
def test_the_error_for_an_unknown_model_names_the_available_models(build_client, model):
    error = error_of(build_client(), openai.NotFoundError, model=model)
    assert (error.code, error.param) == ("model_not_found", "model")
    assert model in error.message
    assert error.message.endswith("Available models: footnote.")


def test_an_unknown_model_cannot_be_retrieved(build_client):
    with pytest.raises(openai.NotFoundError) as raised:
        build_client().models.retrieve("some/thing")
    assert raised.value.code == "model_not_found"


def test_unsupported_requests_are_rejected_with_the_name_of_the_field(build_client):
    client = build_client()
    cases = {
        "messages[0].content[0].type": {"messages": [{"role": "user", "content": [IMAGE]}]},
        "messages[1].role": {"messages": [*chat_messages(QUESTION), FUNCTION_RESULT]},
        "messages[0].content": {"messages": chat_messages(" \n")},
        "messages[2].content": {"messages": chat_messages("", (QUESTION, "25 days."))},
        "messages[1].content[0].type": {
            "messages": [*chat_messages(QUESTION), {"role": "assistant", "content": [IMAGE]}]
        },
        "messages[0]": {"messages": ["x"]},
        "messages": {"messages": []},
        "tools": {"tools": [TOOL]},
        "n": {"n": 2},
        "logprobs": {"logprobs": True},
        "top_logprobs": {"top_logprobs": 2},
        "modalities[1]": {"modalities": ["text", "audio"]},
        "audio": {"audio": {"voice": "alloy", "format": "wav"}},
        "web_search_options": {"web_search_options": {}},
        "response_format": {"response_format": {"type": "json_object"}},
        "footnote.search.k": {"extra_body": {"footnote": {"search": {"k": 0}}}},
        "footnote.serach": {"extra_body": {"footnote": {"serach": {}}}},
    }
    for param, parameters in cases.items():
        error = error_of(client, openai.BadRequestError, **parameters)
        assert (error.param, error.type) == (param, "invalid_request_error")


@pytest.mark.parametrize(
    ("parameters", "advice"),
    [
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "type text"),
        ({"messages": [FUNCTION_RESULT]}, "user, assistant, tool, system, and developer"),
        ({"messages": [{"role": "system", "content": "x"}]}, "No message has the role user"),
        ({"messages": chat_messages(" ")}, "empty"),
        ({"tools": [TOOL]}, "set FOOTNOTE_CHAT_MODEL"),
        ({"response_format": {"type": "xml"}}, "text, json_object, and json_schema"),
        ({"n": 3}, "one answer"),
    ],
)
def test_the_error_for_an_unsupported_request_says_what_to_do(build_client, parameters, advice):
    assert advice in error_of(build_client(), openai.BadRequestError, **parameters).message


def test_a_question_whose_parts_together_are_too_long_is_rejected(build_client):
    parts = [{"type": "text", "text": "x" * 15_000}] * 2
    error = error_of(
        build_client(), openai.BadRequestError, messages=[{"role": "user", "content": parts}]
    )
    assert "20,000" in error.message


def test_the_error_for_an_unknown_source_names_the_available_sources(build_client):
    options = {"footnote": {"search": {"scope": {"sources": ["nope"]}}}}
    assert "handbook" in error_of(build_client(), openai.ConflictError, extra_body=options).message


def test_too_many_requests_return_429_with_retry_after(build_client):
    client = build_client(api_requests_per_minute=1)
    assert ask(client)
    error = error_of(client, openai.RateLimitError)
    assert error.code == "rate_limit_exceeded"
    assert 1 <= int(error.response.headers["retry-after"]) <= 60


def test_too_many_concurrent_answers_return_503(build_client, model_server):
    model_server.will(Text(*["word "] * 60, pause_s=0.1))
    client = build_client(chat=True, api_answers=1)
    with ask(client, stream=True) as first:
        next(iter(first))
        error = error_of(client, openai.InternalServerError)
        assert (error.status_code, error.type) == (503, "server_error")


@pytest.mark.slow
def test_the_client_retries_only_transient_errors(build_client, model_server):
    client = build_client(chat=True, retries=2)
    model_server.will(Fault(401, "wrong key"))
    assert error_of(client, openai.InternalServerError).status_code == 502
    model_server.will(Fault(503, "busy"), Text("Fine."))
    completion = ask(client.with_options(timeout=30))
    assert completion.choices[0].message.content.startswith("Fine.")
    assert len(model_server.requests) == 3


def test_unknown_paths_and_methods_return_errors_of_the_same_shape(build_client):
    client = build_client()
    for error, call in (
        (openai.NotFoundError, lambda: client.moderations.create(input="x")),
        (openai.APIStatusError, lambda: client.delete("/models", cast_to=object)),
    ):
        with pytest.raises(error) as raised:
            call()
        assert raised.value.type == "invalid_request_error"
        assert raised.value.code in ("not_found", "method_not_allowed")


def test_a_body_that_is_not_json_is_rejected(build_client):
    client = build_client()
    with pytest.raises(openai.BadRequestError, match="JSON|read"):
        client.post(
            "/chat/completions",
            cast_to=object,
            content=b"{",
            options={"headers": {"Content-Type": "application/json"}},
        )


def test_tools_are_accepted_if_they_may_not_be_called(build_client):
    assert ask(build_client(), tools=[TOOL], tool_choice="none")
    error = error_of(build_client(), openai.BadRequestError, tools=[TOOL], tool_choice="auto")
    assert error.param == "tools"


def test_only_fields_that_are_read_must_not_contain_nul(build_client):
    client = build_client()
    assert ask(client, extra_body={"user": "a\0b", "options": {"a\0": "\0"}})
    for param, parameters in {
        "messages[0].content": {"messages": chat_messages("a\0b")},
        "messages[0]": {"messages": [{"role": "system", "content": "\0"}]},
        "footnote.search.scope.labels[0]": {
            "extra_body": {"footnote": {"search": {"scope": {"labels": ["a\0"]}}}}
        },
    }.items():
        error = error_of(client, openai.BadRequestError, **parameters)
        assert error.param.startswith(param)
        assert "NUL" in error.message
    with pytest.raises(openai.BadRequestError, match="NUL"):
        client.embeddings.create(model="multilingual-e5-small", input="a\0b")
