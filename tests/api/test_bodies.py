import gzip
import json
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


def refused(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    return answer.json()["detail"]


def post(client, path, body, kind="application/json"):
    return client.post(path, content=body, headers={"content-type": kind} if kind else {})


def pieces(n, size=10_000):
    for _ in range(n):
        yield b"x" * size


@given(VALUES, st.booleans())
def test_whatever_is_sound_json_is_taken_as_it_is(value, ascii_only):
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize(
    ("text", "number"), [("1.0", 1), ("-2e3", -2000), ("-0.0", 0), ("1.5", 1.5)]
)
def test_a_number_without_a_fraction_is_an_integer(text, number):
    read = read_json(text.encode())
    assert (read, type(read)) == (number, type(number))


@given(st.binary())
@example(b"")
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b"9" * 10_000)
def test_any_bytes_are_sound_or_refused_with_a_reason(body):
    refusal = why_refused(body)
    if refusal is None:
        json.dumps(json.loads(body), allow_nan=False, ensure_ascii=False).encode()
    else:
        assert refusal.startswith("The body can't be read: ")


def why_refused(body):
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
def test_what_no_part_below_could_take_is_refused(client, body):
    assert "can't be read" in refused(post(client, "/any", body), 422)


def test_a_number_of_any_use_is_taken_and_a_longer_one_refused_in_our_words(client):
    assert post(client, "/any", b"[" + b"9" * 309 + b"]").status_code == 200
    detail = refused(post(client, "/any", b"[" + b"9" * 5_000 + b"]"), 422)
    assert detail == "The body can't be read: a number has more than 400 digits."


def test_the_mark_that_some_editors_begin_a_file_with_is_let_be(client):
    assert post(client, "/note", b'\xef\xbb\xbf{"text": "a"}').json() == "a"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/note", "application/json"), ("/upload", "multipart/form-data; boundary=b")],
)
def test_a_body_that_is_packed_is_refused_with_the_reason(client, path, kind):
    headers = {"content-type": kind, "content-encoding": "gzip"}
    answer = client.post(path, content=gzip.compress(b'{"text": "a"}'), headers=headers)
    assert "Content-Encoding" in refused(answer, 415)


def test_a_name_of_a_file_in_place_of_the_file_is_told_as_that(client):
    body = b'--b\r\nContent-Disposition: form-data; name="files"\r\n\r\nleave.md\r\n--b--\r\n'
    detail = refused(post(client, "/upload", body, "multipart/form-data; boundary=b"), 422)
    assert detail == (
        "body.files.0: It is text instead of a file:"
        " send the file with its name (curl: files=@NAME)"
    )


def test_a_body_arrives_as_it_was_sent(client):
    text = "휴가 は 25 jours — ok\n"
    assert client.post("/note", json={"text": text}).json() == text
    assert (
        client.post(
            "/any", content=(b"[1,", b"2]"), headers={"content-type": "application/json"}
        ).json()
        == 2
    )


def test_a_body_may_not_be_larger_than_a_mebibyte(client):
    fits = b'"' + b"x" * (MAX_JSON_BYTES - 4) + b'"'
    assert post(client, "/any", b"[" + fits + b"]").status_code == 200
    assert "1,048,576 bytes" in refused(post(client, "/any", b"[" + fits + b" ]"), 413)


def test_a_length_that_is_not_told_changes_nothing(client):
    refused(post(client, "/any", pieces(200)), 413)


def test_a_body_of_another_kind_is_refused(client):
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        None,
    ):
        assert "application/json" in refused(post(client, "/any", b"[]", kind), 415)
    for kind in ("application/json", "Application/JSON;charset=UTF-8"):
        assert post(client, "/any", b"[]", kind).status_code == 200


def test_a_body_that_is_missing_is_no_wrong_kind(client):
    assert "body" in refused(client.post("/any"), 422)


def test_an_upload_holds_ten_files_of_the_largest_size(client):
    files = [("files", (f"{n}.txt", b"x" * (MAX_FILE - 1_000))) for n in range(FILES_PER_UPLOAD)]
    assert client.post("/upload", files=files).json() == FILES_PER_UPLOAD * (MAX_FILE - 1_000)
    large = [*files, ("files", ("more.txt", b"x" * MAX_FILE))]
    assert "500,000 bytes" in refused(client.post("/upload", files=large), 413)


def test_an_upload_is_counted_while_it_streams(client):
    head = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
    sent = []

    def body():
        yield head
        for piece in pieces(1_000):
            sent.append(piece)
            yield piece

    refused(post(client, "/upload", body(), "multipart/form-data; boundary=b"), 413)


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
def test_an_upload_that_is_none_is_refused(client, body, kind, status):
    refused(post(client, "/upload", body, kind), status)


@pytest.mark.parametrize("query", ["q=%ff", "%ed%a0%80=1", "q=%00", "q=a%00b"])
def test_a_query_string_that_is_no_text_is_refused(client, query):
    assert "query string" in refused(post(client, f"/any?{query}", b"[]"), 422)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/any?colour=red", "colour. Allowed: q."),
        ("/any?q=a&colour=red&Q=&colour", "colour, Q. Allowed: q."),
        ("/any?%e8%89%b2=1", "色. Allowed: q."),
        ("/note?q=a", "q. Allowed: none."),
    ],
)
def test_a_parameter_that_is_not_known_is_refused_and_told_which_are(client, path, told):
    detail = refused(post(client, path, b"[]"), 422)
    assert detail == f"Unknown query parameters: {told}"


@pytest.mark.parametrize("query", ["", "?", "?&", "?q=", "?q=a&q=b", "?q=colour%3Dred"])
def test_parameters_that_are_known_are_taken(client, query):
    assert post(client, f"/any{query}", b"[]").status_code == 200


def test_a_parameter_is_refused_before_a_file_is_read(client):
    assert "Allowed" in refused(post(client, "/upload?q=a", pieces(1), None), 422)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "BREW"])
def test_another_method_is_told_which_there_are(client, method):
    answer = client.request(method, "/note")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ["/", "/note/", "/note%00", "//note", "/notes"])
def test_another_path_is_told_that_it_is_none(client, path):
    refused(client.post(path), 404)
