"""The code shared by all kinds of sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import DocumentRef, Skipped
from domain.errors import SourceError
from services.sources.source_kinds import lines, look, required
from services.sources.source_service import Schedule


class Listing:
    def __init__(self, entries):
        self.entries = entries
        self.yielded = 0

    def list(self, before=None):
        for entry in self.entries:
            self.yielded += 1
            yield entry


def documents(n):
    return [DocumentRef(f"{i}.txt", "v", f"/{i}.txt") for i in range(n)]


def test_a_test_reads_only_the_beginning_of_a_long_listing():
    loader = Listing(documents(100_000))
    result = look(loader, "/docs")
    assert not result.is_all
    assert result.documents < loader.yielded < 1000
    assert result.titles[0] == "0.txt"


def test_skipped_files_are_reported_beside_documents():
    skipped = Skipped("a.exe", "/a.exe", "unknown type")
    result = look(Listing([skipped, *documents(2)]), "/docs")
    assert (result.documents, result.skipped, result.is_all) == (2, (skipped,), True)


def test_the_error_for_a_source_without_documents_names_skipped_files():
    with pytest.raises(SourceError, match=r"a\.exe \(unknown type\)"):
        look(Listing([Skipped("a.exe", "/a.exe", "unknown type")]), "/docs")
    with pytest.raises(SourceError, match="nothing to import at /docs"):
        look(Listing([]), "/docs")


@given(st.lists(st.text(" \tabc*/", max_size=9)))
def test_lines_can_be_given_as_text_or_as_a_list(values):
    assert lines({"x": "\n".join(values)}, "x") == lines({"x": values}, "x")
    assert all(line and line == line.strip() for line in lines({"x": values}, "x"))


def test_an_empty_required_field_is_reported():
    with pytest.raises(SourceError, match="The path is missing"):
        required({"path": "  "}, "path", "The path")


@pytest.mark.parametrize("schedule", list(Schedule))
def test_a_schedule_can_be_looked_up_by_its_seconds(schedule):
    assert Schedule.of(schedule.seconds) is schedule
