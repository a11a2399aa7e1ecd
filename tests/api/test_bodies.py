import gzip
import json
from itertools import chain
from typing import Annotated

import pytest
from fastapi import Body, FastAPI, File, Query, UploadFile
from fastapi.testclient import TestClient
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from api.problems import MEDIA_TYPE, ProblemError, respond_with_problems
from api.request_bodies import (
    FILES_PER_UPLOAD,
    MAX_JSON_BYTES,
    MAX_QUERY_BYTES,
    Operations,
    RequestBodyMiddleware,
    read_json,
)

MAX_FILE = 50_000
PLAIN = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | PLAIN,
    lambda inner: st.lists(inner) | st.dictionaries(PLAIN, inner),
    max_leaves=20,
)


class Note(BaseModel):
    text: str


@pytest.fixture
def client():
    app = FastAPI()

    @app.post("/note")
    def note(note: Note) -> str:
        return note.text

    @app.post("/any")
    def anything(value: Annotated[list, Body()], q: Annotated[str, Query()] = "") -> int:
        return len(value)

    @app.post("/upload")
    def upload(files: Annotated[list[UploadFile], File()]) -> int:
        return sum(len(one.file.read()) for one in files)

    app.add_middleware(RequestBodyMiddleware, operations=Operations(app), max_file_bytes=MAX_FILE)
    respond_with_problems(app)
    return TestClient(app)


def rejection_detail(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    return answer.json()["detail"]


def post(client, path, body, kind="application/json"):
    return client.post(path, content=body, headers={"content-type": kind} if kind else {})


def pieces(n, size=10_000):
    for _ in range(n):
        yield b"x" * size


@given(VALUES, st.booleans())
def test_any_valid_json_is_read_unchanged(value, ascii_only):
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize(
    ("text", "number"), [("1.0", 1), ("-2e3", -2000), ("-0.0", 0), ("1.5", 1.5)]
)
def test_a_number_without_a_fraction_is_an_integer(text, number):
    value = read_json(text.encode())
    assert (value, type(value)) == (number, type(number))


@given(st.binary())
@example(b"")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"9" * 10_000)
def test_any_bytes_are_valid_or_rejected_with_a_reason(body):
    reason = rejection_reason(body)
    if reason is None:
        json.dumps(json.loads(body), allow_nan=False, ensure_ascii=False).encode()
    else:
        assert reason.startswith("The body can't be read: ")


def rejection_reason(body):
    try:
        read_json(body)
    except ProblemError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b'["\\ud800"]',
        b'{"\\udfff": 1}',
        b'["\\u0000"]',
        b'["\xff"]',
        '["x"]'.encode("utf-16"),
        b"[" * 65 + b"]" * 65,
        b"[" * 200_000,
        b"[" + b"9" * 5_000 + b"]",
        b"[-" + b"9" * 401 + b"]",
    ],
)
def test_json_that_later_layers_cannot_process_is_rejected(client, body):
    assert "can't be read" in rejection_detail(post(client, "/any", body), 422)


def test_numbers_of_more_than_400_digits_are_rejected(client):
    assert post(client, "/any", b"[" + b"9" * 309 + b"]").status_code == 200
    detail = rejection_detail(post(client, "/any", b"[" + b"9" * 5_000 + b"]"), 422)
    assert detail == "The body can't be read: a number has more than 400 digits."


def test_a_byte_order_mark_is_accepted(client):
    assert post(client, "/note", b'\xef\xbb\xbf{"text": "a"}').json() == "a"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/note", "application/json"), ("/upload", "multipart/form-data; boundary=b")],
)
def test_a_compressed_body_is_rejected_with_the_reason(client, path, kind):
    headers = {"content-type": kind, "content-encoding": "gzip"}
    answer = client.post(path, content=gzip.compress(b'{"text": "a"}'), headers=headers)
    assert "Content-Encoding" in rejection_detail(answer, 415)


def test_the_error_for_a_file_name_instead_of_a_file_says_what_to_send(client):
    body = b'--b\r\nContent-Disposition: form-data; name="files"\r\n\r\nleave.md\r\n--b--\r\n'
    detail = rejection_detail(post(client, "/upload", body, "multipart/form-data; boundary=b"), 422)
    assert detail == (
        "body.files.0: It is text instead of a file:"
        " send the file with its name (curl: files=@NAME)"
    )


def test_a_body_arrives_unchanged(client):
    text = "휴가 は 25 jours — ok\n"
    assert client.post("/note", json={"text": text}).json() == text
    assert (
        client.post(
            "/any", content=(b"[1,", b"2]"), headers={"content-type": "application/json"}
        ).json()
        == 2
    )


def test_a_body_larger_than_a_mebibyte_is_rejected(client):
    fits = b'"' + b"x" * (MAX_JSON_BYTES - 4) + b'"'
    assert post(client, "/any", b"[" + fits + b"]").status_code == 200
    assert "1,048,576 bytes" in rejection_detail(post(client, "/any", b"[" + fits + b" ]"), 413)


def test_a_large_body_without_a_content_length_is_rejected(client):
    rejection_detail(post(client, "/any", pieces(200)), 413)


def test_a_body_of_another_media_type_is_rejected(client):
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        None,
    ):
        assert "application/json" in rejection_detail(post(client, "/any", b"[]", kind), 415)
    for kind in ("application/json", "Application/JSON;charset=UTF-8"):
        assert post(client, "/any", b"[]", kind).status_code == 200


@pytest.mark.parametrize("charset", ["utf8", "UTF-8", '"utf-8"', "us-ascii", "ascii; profile=x"])
def test_a_json_body_may_be_labeled_as_utf_8_or_ascii(client, charset):
    kind = f"application/json; charset={charset}"
    assert post(client, "/any", b"[]", kind).status_code == 200


@pytest.mark.parametrize("charset", ["", "utf-16", "utf-8x", "utf-99", "utf-8; charset=latin-1"])
def test_a_json_body_with_another_charset_is_rejected(client, charset):
    kind = f"application/json;\tcharset={charset}"
    assert "UTF-8" in rejection_detail(post(client, "/any", b"[]", kind), 415)


def test_a_missing_body_is_not_reported_as_a_wrong_media_type(client):
    assert "body" in rejection_detail(client.post("/any"), 422)


def test_an_upload_may_contain_ten_files_of_the_largest_size(client):
    files = [("files", (f"{n}.txt", b"x" * (MAX_FILE - 1_000))) for n in range(FILES_PER_UPLOAD)]
    assert client.post("/upload", files=files).json() == FILES_PER_UPLOAD * (MAX_FILE - 1_000)
    large = [*files, ("files", ("more.txt", b"x" * MAX_FILE))]
    assert "500,000 bytes" in rejection_detail(client.post("/upload", files=large), 413)


def test_the_size_of_an_upload_is_checked_while_it_streams(client):
    head = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    body = chain([head], pieces(1_000))
    rejection_detail(post(client, "/upload", body, "multipart/form-data; boundary=b"), 413)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"[]", "application/json", 415),
        (b"files=x", "application/x-www-form-urlencoded", 415),
        (b"--b\r\nnonsense", "multipart/form-data; boundary=b", 422),
        (b"nonsense", "multipart/form-data", 422),
        (b"", "multipart/form-data; boundary=b", 422),
    ],
)
def test_an_invalid_upload_is_rejected(client, body, kind, status):
    rejection_detail(post(client, "/upload", body, kind), status)


@pytest.mark.parametrize("query", ["q=%ff", "%ed%a0%80=1", "q=%00", "q=a%00b"])
def test_a_query_string_that_is_not_valid_text_is_rejected(client, query):
    assert "query string" in rejection_detail(post(client, f"/any?{query}", b"[]"), 422)


async def answer_to_query(app, query):
    """The status and the body; clients do not send query strings of that length."""
    sent = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/any",
        "root_path": "",
        "query_string": query,
        "headers": [(b"content-type", b"application/json"), (b"content-length", b"2")],
    }

    async def receive():
        return {"type": "http.request", "body": b"[]", "more_body": False}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])


async def test_a_long_query_string_returns_414(client):
    longest = b"q=" + b"x" * (MAX_QUERY_BYTES - 2)
    assert await answer_to_query(client.app, longest) == (200, b"0")
    status, body = await answer_to_query(client.app, longest + b"x")
    assert (status, json.loads(body)["title"]) == (414, "URI Too Long")
    assert "262,144 bytes" in json.loads(body)["detail"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/any?colour=red", "colour. Allowed: q."),
        ("/any?q=a&colour=red&Q=&colour", "colour, Q. Allowed: q."),
        ("/any?%e8%89%b2=1", "色. Allowed: q."),
        ("/note?q=a", "q. Allowed: none."),
    ],
)
def test_the_error_for_unknown_query_parameters_lists_the_allowed_ones(client, path, names):
    detail = rejection_detail(post(client, path, b"[]"), 422)
    assert detail == f"Unknown query parameters: {names}"


@pytest.mark.parametrize("query", ["", "?", "?&", "?q=", "?q=a&q=b", "?q=colour%3Dred"])
def test_known_query_parameters_are_accepted(client, query):
    assert post(client, f"/any{query}", b"[]").status_code == 200


def test_unknown_parameters_are_rejected_before_files_are_read(client):
    assert "Allowed" in rejection_detail(post(client, "/upload?q=a", pieces(1), None), 422)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "BREW"])
def test_an_unsupported_method_returns_the_allowed_methods(client, method):
    answer = client.request(method, "/note")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ["/", "/note/", "/note%00", "//note", "/notes"])
def test_an_unknown_path_returns_404(client, path):
    rejection_detail(client.post(path), 404)
