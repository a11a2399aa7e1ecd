import json
from typing import Any

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document


def document(value: Any):
    return read_document("a.json", json.dumps(value).encode())


def test_flat_records_become_a_table():
    records = [{"name": "김", "days": 15}, {"name": "Lee", "days": None, "note": "a|b"}]
    assert document(records).page_content == (
        "| name | days | note |\n| --- | --- | --- |\n| 김 | 15 |\n| Lee |  | a\\|b |"
    )


def test_nested_values_follow_their_path():
    value = {"office": {"city": "Seoul", "floors": [1, 2]}, "rooms": [{"id": "a"}, {"id": "b"}]}
    assert document(value).page_content == (
        "office.city: Seoul\noffice.floors: 1, 2\nrooms[0].id: a\nrooms[1].id: b"
    )


def test_list_items_become_paragraphs():
    assert document([{"a": {"b": 1}}, {"a": True}]).page_content == "a.b: 1\n\na: true"


def test_multiline_text_keeps_its_lines():
    assert document({"body": "one\ntwo"}).page_content.strip() == "body:\n\none\ntwo"


def test_the_title_is_read_from_the_title_field():
    assert document({"title": "Leave", "x": 1}).metadata["title"] == "Leave"
    assert document({"title": {"x": 1}}).metadata["title"] == "a"


def test_json_lines_are_read_as_a_list():
    data = b'{"a": 1}\n{"a": 2}\n'
    assert read_document("a.json", data).page_content == "| a |\n| --- |\n| 1 |\n| 2 |"


def test_the_error_for_invalid_json_names_the_line():
    with pytest.raises(UnreadableError, match="invalid at line 2"):
        read_document("a.json", b'{"a": 1,\n b}')


@pytest.mark.parametrize("depth", [150, 100_000])
def test_too_deeply_nested_json_is_rejected(depth):
    with pytest.raises(UnreadableError, match="nested"):
        read_document("a.json", b"[" * depth + b"]" * depth + b"\n")
    with pytest.raises(UnreadableError, match="nested"):
        read_document("a.json", b'{"a":' * depth + b"1" + b"}" * depth)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp949"])
def test_json_in_other_encodings_is_read(encoding):
    data = '{"휴가": "연차는 매년 부여됩니다"}'.encode(encoding)
    assert read_document("a.json", data).page_content == "휴가: 연차는 매년 부여됩니다"
