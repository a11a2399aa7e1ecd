import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import SourceError
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
def test_ids_are_read_from_every_kind_of_address(id_, url):
    assert drive_id(url.format(id_)) == id_


def test_the_address_of_my_drive_is_the_root_folder():
    assert drive_id("https://drive.google.com/drive/u/0/my-drive") == drive_id("root") == "root"


@pytest.mark.parametrize(
    "text", ["", "Team", "https://example.org/drive/folders/1abcdefghijkl", "https://[", "a b c"]
)
def test_texts_without_an_id_are_rejected_with_advice(text):
    with pytest.raises(SourceError, match="copy its address"):
        drive_id(text)


@given(st.text())
def test_any_text_gives_an_id_or_a_reason(text):
    try:
        result = drive_id(text)
    except SourceError as error:
        result = str(error)
    assert result in text or text.strip() in result or result == "root"


def test_selections_are_normalized_and_have_no_duplicates():
    selection = DriveSelection.of(
        "folders",
        folders=["1abcdefghijkl", "https://drive.google.com/drive/folders/1abcdefghijkl", " "],
        files=["1zzzzzzzzzzzz"],
        types=[".PDF", "gdoc", ""],
    )
    assert selection == DriveSelection(
        DriveScope.FOLDERS, ("1abcdefghijkl",), frozenset(["pdf", "gdoc"])
    )
    assert selection.takes("pdf")
    assert not selection.takes("gsheet")


def test_without_types_every_type_matches():
    assert DriveSelection.of("files", files=["1abcdefghijkl"]).takes("anything")


def test_empty_selections_are_rejected():
    with pytest.raises(SourceError, match="address of a folder"):
        DriveSelection.of("drives", folders=["1abcdefghijkl"])


def test_the_fingerprint_depends_on_everything_that_affects_the_listing():
    ids = ["1abcdefghijkl", "1bbcdefghijkl"]
    selection = DriveSelection.of("folders", folders=ids)
    others = [
        DriveSelection.of("folders", folders=ids[:1]),
        DriveSelection.of("files", files=ids),
        DriveSelection.of("folders", folders=ids, types=["pdf"]),
    ]
    fingerprints = {each.fingerprint(100) for each in [selection, *others]} | {
        selection.fingerprint(200)
    }
    assert len(fingerprints) == 5
    assert selection.fingerprint(100) == DriveSelection.of("folders", folders=ids).fingerprint(100)
