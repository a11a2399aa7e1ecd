import logging

import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException

from api.problems import (
    MEDIA_TYPE,
    Problem,
    ProblemError,
    problem_of,
    problem_of_error,
    respond_with_problems,
)
from domain.errors import (
    AppError,
    BusyError,
    ForbiddenError,
    InputError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    SourceUnavailableError,
    StorageError,
    StorageUnavailableError,
    UnreadableError,
)


class Broken(AppError):
    """An error without a status of its own."""


def app_that_raises(error, elsewhere=None):
    app = FastAPI()
    respond_with_problems(app, elsewhere)

    @app.get("/here")
    @app.get("/v1/there")
    def operation(n: int = 0):
        raise error

    @app.get("/begun")
    def begun():
        def pieces():
            yield "a piece"
            raise error

        return StreamingResponse(pieces())

    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("error", "status", "retryable"),
    [
        (NotFoundError("gone"), 404, False),
        (ForbiddenError("needs a role"), 403, False),
        (InputError("wrong"), 422, False),
        (UnreadableError("torn"), 409, False),
        (SourceUnavailableError("off"), 503, True),
        (ModelUnavailableError("off"), 503, True),
        (ModelError("refused"), 502, False),
        (BusyError("busy"), 503, True),
        (StorageUnavailableError("off"), 503, True),
        (StorageError("full"), 500, False),
        (Broken("odd"), 500, False),
        (ProblemError(429, "many"), 429, True),
        (HTTPException(413, "large"), 413, False),
        (HTTPException(400, "torn"), 422, False),
    ],
)
def test_each_error_has_its_status_and_says_whether_to_retry(error, status, retryable):
    answer = app_that_raises(error).get("/here")
    assert answer.status_code == status
    assert answer.headers["content-type"] == MEDIA_TYPE
    problem = Problem.model_validate(answer.json())
    assert (problem.status, problem.retryable) == (status, retryable)
    assert problem.type.startswith("urn:footnote:")
    assert ("retry-after" in answer.headers) == retryable


def test_the_retry_delay_of_a_source_is_passed_on():
    error = SourceUnavailableError("off", retry_after_s=41.2)
    assert app_that_raises(error).get("/here").headers["retry-after"] == "42"


def test_headers_of_an_error_are_sent():
    error = ProblemError(429, "many", {"Retry-After": "9", "X-Other": "1"})
    headers = app_that_raises(error).get("/here").headers
    assert (headers["retry-after"], headers["x-other"]) == ("9", "1")


def test_an_unexpected_error_is_logged_once_and_not_disclosed(caplog):
    answer = app_that_raises(ValueError("a secret")).get("/here")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert "secret" not in answer.text
    logged = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert [str(one.exc_info[1]) for one in logged] == ["a secret"]


def test_an_error_aborts_a_response_that_has_started():
    client = app_that_raises(ValueError("late"))
    client._transport.raise_server_exceptions = True
    with pytest.raises(ValueError, match="late"):
        client.get("/begun")


def test_an_invalid_parameter_is_named():
    answer = app_that_raises(ValueError()).get("/here", params={"n": "many"})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("query.n: ")


def search_in(**scope):
    return {"search": {"scope": scope}}


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("ask", {"question": " "}, "body.question: It is empty or blank"),
        ("chat/search", {"query": ""}, "body.query: It is empty or blank"),
        (
            "ask",
            {"question": "x", **search_in(labels=["hr", "\t"])},
            "body.search.scope.labels.1: It is empty or blank",
        ),
        (
            "ask",
            {"question": "x", **search_in(since="May")},
            "body.search.scope.since: It is not a date or time from 1600 to 9998, such as",
        ),
        (
            "search",
            {"query": "x", "filter": {"modified_at": {"$gt": "May"}}},
            "It is not a date or a time in UTC, such as",
        ),
        ("uploads?box=%20x", None, "query.box: It begins with a blank"),
    ],
)
def test_texts_that_do_not_match_a_pattern_get_a_readable_message(build_client, path, body, detail):
    answer = build_client().post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]
    assert "pattern" not in answer.json()["detail"]


def test_an_unknown_path_returns_a_problem():
    answer = app_that_raises(ValueError()).get("/elsewhere")
    assert (answer.status_code, answer.headers["content-type"]) == (404, MEDIA_TYPE)


def test_a_path_prefix_can_have_its_own_error_format():
    def respond(problem, headers, error):
        body = {"error": {"message": problem.detail, "kind": type(error).__name__}}
        return JSONResponse(body, problem.status, headers)

    client = app_that_raises(BusyError("busy"), {"/v1/": respond})
    answer = client.get("/v1/there")
    assert answer.json() == {"error": {"message": "busy", "kind": "BusyError"}}
    assert answer.headers["retry-after"]
    assert client.get("/here").json()["detail"] == "busy"
    assert client.get("/v1/nowhere").json()["error"]["kind"] == "HTTPException"


def test_problem_types_do_not_depend_on_the_python_version():
    assert problem_of(413, "").type == "urn:footnote:content-too-large"
    assert problem_of(422, "").type == "urn:footnote:unprocessable-content"
    assert problem_of_error(RuntimeError("x")).type == "urn:footnote:internal-server-error"
