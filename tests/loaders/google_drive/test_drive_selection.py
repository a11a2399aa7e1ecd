import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import SourceError
from loaders.google_drive.drive_selection import DriveScope, DriveSelection, drive_id

IDS = st.from_regex(r"[A-Za-z0-9_-]{10,44}", fullmatch=True)
URLS = (
    "https://drive.google.com/drive/folders/{}",
    "https://drive.google.com/drive/folders/{}?usp=sharing",
    "https://drive.google.com/drive/u/1/folders/{}",
    "https://drive.google.com/file/d/{}/view?usp=drive_link",
    "https://docs.google.com/document/d/{}/edit#heading=h.1",
    "https://docs.google.com/spreadsheets/d/{}/edit?gid=0",
    "https://docs.google.com/presentation/u/0/d/{}/edit",
    "https://drive.google.com/open?id={}",
    "https://drive.google.com/uc?export=download&id={}",
    "drive.google.com/drive/folders/{}/",
    "  {}\n",
)


@given(IDS, st.sampled_from(URLS))
def test_the_id_is_found_in_every_address_that_drive_shows(id_, url):
    assert drive_id(url.format(id_)) == id_


def test_the_address_of_my_drive_names_its_topmost_folder():
    assert drive_id("https://drive.google.com/drive/u/0/my-drive") == drive_id("root") == "root"


@pytest.mark.parametrize(
    "text", ["", "Team", "https://example.org/drive/folders/1abcdefghijkl", "https://[", "a b c"]
)
def test_what_names_nothing_in_drive_is_refused_with_what_to_do(text):
    with pytest.raises(SourceError, match="copy its address"):
        drive_id(text)


@given(st.text())
def test_any_text_gives_an_id_or_a_reason(text):
    try:
        found = drive_id(text)
    except SourceError as error:
        found = str(error)
    assert found in text or text.strip() in found or found == "root"


def test_what_is_wanted_is_taken_once_each_with_types_as_people_write_them():
    wanted = DriveSelection.of(
        "folders",
        folders=["1abcdefghijkl", "https://drive.google.com/drive/folders/1abcdefghijkl", " "],
        files=["1zzzzzzzzzzzz"],
        types=[".PDF", "gdoc", ""],
    )
    assert wanted == DriveSelection(
        DriveScope.FOLDERS, ("1abcdefghijkl",), frozenset(["pdf", "gdoc"])
    )
    assert wanted.takes("pdf")
    assert not wanted.takes("gsheet")


def test_without_types_every_type_is_wanted():
    assert DriveSelection.of("files", files=["1abcdefghijkl"]).takes("anything")


@pytest.mark.parametrize(("scope", "told"), [("drives", "address of a folder"), ("moon", "'moon'")])
def test_nothing_to_import_and_no_such_scope_are_refused(scope, told):
    with pytest.raises(SourceError, match=told):
        DriveSelection.of(scope, folders=["1abcdefghijkl"])


def test_the_fingerprint_follows_what_the_listing_depends_on():
    ids = ["1abcdefghijkl", "1bbcdefghijkl"]
    wanted = DriveSelection.of("folders", folders=ids)
    others = [
        DriveSelection.of("folders", folders=ids[:1]),
        DriveSelection.of("files", files=ids),
        DriveSelection.of("folders", folders=ids, types=["pdf"]),
    ]
    prints = {one.fingerprint(100) for one in [wanted, *others]} | {wanted.fingerprint(200)}
    assert len(prints) == 5
    assert wanted.fingerprint(100) == DriveSelection.of("folders", folders=ids).fingerprint(100)
