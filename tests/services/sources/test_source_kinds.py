"""What every kind of source shares; another kind keeps the same promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import DocumentRef, Skipped
from errors import SourceError
from services.sources.source_kinds import lines, look, required
from services.sources.source_service import Schedule


class Listing:
    def __init__(self, entries):
        self.entries = entries
        self.listed = 0

    def list(self, before=None):
        for entry in self.entries:
            self.listed += 1
            yield entry


def documents(n):
    return [DocumentRef(f"{i}.txt", "v", f"/{i}.txt") for i in range(n)]


def test_a_test_looks_at_the_beginning_of_a_long_listing_only():
    loader = Listing(documents(100_000))
    seen = look(loader, "/docs")
    assert not seen.is_all
    assert seen.documents < loader.listed < 1000
    assert seen.titles[0] == "0.txt"


def test_what_can_not_be_imported_is_told_beside_what_can():
    skipped = Skipped("a.exe", "/a.exe", "unknown type")
    seen = look(Listing([skipped, *documents(2)]), "/docs")
    assert (seen.documents, seen.skipped, seen.is_all) == (2, (skipped,), True)


def test_nothing_to_import_says_what_there_is_instead():
    with pytest.raises(SourceError, match=r"a\.exe \(unknown type\)"):
        look(Listing([Skipped("a.exe", "/a.exe", "unknown type")]), "/docs")
    with pytest.raises(SourceError, match="nothing to import at /docs"):
        look(Listing([]), "/docs")


@given(st.lists(st.text(" \tabc*/", max_size=9)))
def test_lines_are_read_from_a_text_as_from_a_list(told):
    assert lines({"x": "\n".join(told)}, "x") == lines({"x": told}, "x")
    assert all(line and line == line.strip() for line in lines({"x": told}, "x"))


def test_a_field_that_is_left_empty_is_named():
    with pytest.raises(SourceError, match="The path is missing"):
        required({"path": "  "}, "path", "The path")


@pytest.mark.parametrize("schedule", list(Schedule))
def test_a_schedule_is_found_again_by_its_seconds(schedule):
    assert Schedule.of(schedule.seconds) is schedule
