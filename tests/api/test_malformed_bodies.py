"""Bodies that are not what an operation expects, sent to every operation with a body."""

from random import Random

import pytest

from api.application import PREFIX
from api.problems import MEDIA_TYPE

SEED = 6
KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "text/plain; charset=utf-99",
    "application/octet-stream",
    "\xff/\xfe",
    "",
)
BODIES = (
    b"",
    b"\0" * 9,
    b"{",
    b"[]",
    b"null",
    b'{"a":' * 70,
    b"\xff\xfe{\0}\0",
    b"--x\r\n\r\n--x--",
)
RANDOM = 4


@pytest.fixture(scope="module")
def random():
    return Random(SEED)


def operations(app):
    """The methods and paths of all operations with a body; ids that do not exist fill the paths."""
    paths = app.openapi()["paths"]
    for path, methods in paths.items():
        filled = "/".join("none" if "{" in part else part for part in path.split("/"))
        yield from ((name, filled) for name, one in methods.items() if "requestBody" in one)


def bodies(random):
    yield from BODIES
    yield from (random.randbytes(random.choice((1, 40, 3_000))) for _ in range(RANDOM))


@pytest.mark.slow
def test_a_malformed_body_is_rejected_by_every_operation(build_client, random):
    client = build_client(api_requests_per_minute=1_000_000)
    client.headers["content-type"] = ""
    asked = list(operations(client.app))
    assert len(asked) > 20
    for method, path in asked:
        for body in bodies(random):
            kind = random.choice(KINDS)
            answer = client.request(
                method, path, content=body, headers={"content-type": kind.encode("latin-1")}
            )
            if answer.status_code >= 400:
                require_problem(answer, path)
            else:
                assert answer.status_code < 300
                assert body in (b"", b"[]", b"null"), (method, path, kind, body)


def require_problem(answer, path):
    """The answer names a problem of the request, in the form of its protocol."""
    assert answer.status_code < 500, (path, answer.text)
    if path.startswith(PREFIX):
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert answer.json()["detail"]
    else:
        assert answer.json()["error"]["message"]
