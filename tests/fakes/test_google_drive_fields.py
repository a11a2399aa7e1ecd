import json
from pathlib import Path

import googleapiclient.discovery_cache
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.google_drive_fields import DEFAULT_FIELDS, KNOWN, parse, partial
from tests.fakes.loopback import RefusedError

pytestmark = pytest.mark.slow

FILE = {"id": "1", "name": "a", "shortcutDetails": {"targetId": "2", "targetMimeType": "t"}}


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("id", {"id": "1"}),
        ("id, name", {"id": "1", "name": "a"}),
        ("*", FILE),
        ("md5Checksum", {}),
        ("shortcutDetails/targetId", {"shortcutDetails": {"targetId": "2"}}),
        ("shortcutDetails(targetId)", {"shortcutDetails": {"targetId": "2"}}),
        ("shortcutDetails", {"shortcutDetails": FILE["shortcutDetails"]}),
        (
            "shortcutDetails/targetId,shortcutDetails/targetMimeType",
            {"shortcutDetails": FILE["shortcutDetails"]},
        ),
    ],
)
def test_only_requested_fields_are_returned(mask, expected):
    assert partial("File", mask, FILE) == expected


def test_fields_of_list_items_are_returned_partially():
    value = {"files": [FILE, FILE], "nextPageToken": "t", "kind": "k"}
    assert partial("FileList", "nextPageToken,files(id)", value) == {
        "nextPageToken": "t",
        "files": [{"id": "1"}, {"id": "1"}],
    }


@pytest.mark.parametrize(
    "mask", ["ids", "", "id,", "id(x)", "files(id)", "shortcutDetails(id)", "id name", "id)", "(id"]
)
def test_a_mask_that_drive_rejects_is_refused(mask):
    with pytest.raises(RefusedError):
        parse(mask, KNOWN["File"])


def test_default_fields_are_known():
    for schema, mask in DEFAULT_FIELDS.items():
        assert parse(mask, KNOWN[schema])


@pytest.mark.parametrize("schema", KNOWN)
def test_every_field_of_the_fake_exists_in_googles_discovery_document(schema):
    folder = Path(googleapiclient.discovery_cache.__file__).parent
    schemas = json.loads((folder / "documents" / "drive.v3.json").read_text())["schemas"]

    def check(known, properties):
        for name, within in known.items():
            assert name in properties, name
            if within is not None:
                value = properties[name].get("items", properties[name])
                check(
                    within,
                    schemas[value["$ref"]]["properties"]
                    if "$ref" in value
                    else value["properties"],
                )

    check(KNOWN[schema], schemas[schema]["properties"])


@given(st.text("id,name()/*shortcutDetails ", max_size=40))
def test_any_text_is_parsed_or_refused(mask):
    try:
        assert partial("File", mask, FILE).keys() <= FILE.keys()
    except RefusedError:
        return
