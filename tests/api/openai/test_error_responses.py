import openai
import pytest

from domain import ApiScope
from tests.api.openai.talks import ASKED, said
from tests.fakes.openai import Fault, Text

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {}}}
CALLED = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
HEARD = {"role": "tool", "tool_call_id": "1", "content": "x"}


def ask(client, model="footnote", messages=None, **more):
    asked = said(ASKED) if messages is None else messages
    return client.chat.completions.create(model=model, messages=asked, **more)


def refused(client, kind, **asked):
    with pytest.raises(kind) as failed:
        ask(client, **asked)
    assert set(failed.value.body) == {"message", "type", "param", "code"}
    return failed.value


def test_a_wrong_key_is_told_as_such(client):
    error = refused(client(key="fn-wrong"), openai.AuthenticationError)
    assert (error.code, error.type) == ("invalid_api_key", "authentication_error")
    assert "api-key create" in error.message


def test_a_key_that_may_not_ask_is_told_so_and_may_read(client):
    made = client(ApiScope.READ)
    assert "`ask`" in refused(made, openai.PermissionDeniedError).message
    assert list(made.models.list())


def test_a_key_that_may_only_ask_can_do_that_and_list_the_models_for_it(client):
    made = client(ApiScope.ASK)
    assert ask(made)
    assert list(made.models.list())
    with pytest.raises(openai.PermissionDeniedError, match="`read`"):
        made.embeddings.create(model="multilingual-e5-small", input="leave")


@pytest.mark.parametrize("model", ["gpt-4o", "footnote-agent", "multilingual-e5-small"])
def test_the_error_for_an_unknown_model_names_the_available_models(client, model):
    error = refused(client(), openai.NotFoundError, model=model)
    assert (error.code, error.param) == ("model_not_found", "model")
    assert model in error.message
    assert error.message.endswith("Available models: footnote.")


def test_an_unknown_model_cannot_be_retrieved(client):
    with pytest.raises(openai.NotFoundError) as failed:
        client().models.retrieve("some/thing")
    assert failed.value.code == "model_not_found"


def test_what_would_not_come_is_refused_by_its_field(client):
    made = client()
    cases = {
        "messages[0].content[0].type": {"messages": [{"role": "user", "content": [IMAGE]}]},
        "messages[1].role": {"messages": [*said(ASKED), HEARD]},
        "messages[0].tool_calls": {"messages": [{"role": "assistant", "tool_calls": [CALLED]}]},
        "messages[0].content": {"messages": said(" \n")},
        "messages[0]": {"messages": ["x"]},
        "messages": {"messages": []},
        "tools": {"tools": [TOOL]},
        "n": {"n": 2},
        "logprobs": {"logprobs": True},
        "response_format.type": {"response_format": {"type": "json_object"}},
        "footnote.search.k": {"extra_body": {"footnote": {"search": {"k": 0}}}},
        "footnote.serach": {"extra_body": {"footnote": {"serach": {}}}},
    }
    for param, asked in cases.items():
        error = refused(made, openai.BadRequestError, **asked)
        assert (error.param, error.type) == (param, "invalid_request_error")


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "type text"),
        ({"messages": [HEARD]}, "user, assistant, system and developer"),
        ({"messages": [{"role": "system", "content": "x"}]}, "none with the role user"),
        ({"messages": said(" ")}, "empty"),
        ({"tools": [TOOL]}, "leave `tools` out"),
        ({"n": 3}, "one answer"),
    ],
)
def test_a_refusal_says_what_to_do(client, asked, advice):
    assert advice in refused(client(), openai.BadRequestError, **asked).message


def test_a_question_that_is_too_long_as_a_whole_is_refused(client):
    parts = [{"type": "text", "text": "x" * 15_000}] * 2
    error = refused(client(), openai.BadRequestError, messages=[{"role": "user", "content": parts}])
    assert "20,000" in error.message


def test_a_source_that_is_not_there_is_told(client):
    narrowed = {"footnote": {"search": {"scope": {"sources": ["nope"]}}}}
    assert "handbook" in refused(client(), openai.ConflictError, extra_body=narrowed).message


def test_too_many_requests_are_told_with_when_to_try_again(client):
    made = client(api_requests_per_minute=1)
    assert ask(made)
    error = refused(made, openai.RateLimitError)
    assert error.code == "rate_limit_exceeded"
    assert 1 <= int(error.response.headers["retry-after"]) <= 60


def test_more_answers_at_once_than_are_written_are_told(client, model_server):
    model_server.will(Text(*["word "] * 60, pause_s=0.1))
    made = client(chat=True, api_answers=1)
    with ask(made, stream=True) as first:
        next(iter(first))
        error = refused(made, openai.InternalServerError)
        assert (error.status_code, error.type) == (503, "server_error")


def test_the_client_tries_again_only_where_that_may_help(client, model_server):
    made = client(chat=True, retries=2)
    model_server.will(Fault(401, "wrong key"))
    assert refused(made, openai.InternalServerError).status_code == 502
    model_server.will(Fault(503, "busy"), Text("Fine."))
    busy = ask(made.with_options(timeout=30))
    assert busy.choices[0].message.content.startswith("Fine.")
    assert len(model_server.requests) == 3


def test_other_addresses_are_told_in_the_same_shape(client):
    made = client()
    for error, call in (
        (openai.NotFoundError, lambda: made.responses.create(model="footnote", input="x")),
        (openai.APIStatusError, lambda: made.delete("/models", cast_to=object)),
    ):
        with pytest.raises(error) as failed:
            call()
        assert failed.value.type == "invalid_request_error"
        assert failed.value.code in ("not_found", "method_not_allowed")


def test_what_is_no_json_is_told(client):
    made = client()
    with pytest.raises(openai.BadRequestError, match="JSON|read"):
        made.post(
            "/chat/completions",
            cast_to=object,
            content=b"{",
            options={"headers": {"Content-Type": "application/json"}},
        )
