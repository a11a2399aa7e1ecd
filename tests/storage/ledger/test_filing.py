from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import utc_text
from storage.ledger.document_store import inherited_metadata, source_metadata

pytestmark = pytest.mark.usefixtures("ledger_kind")

words = st.sampled_from(["hr", "it", "휴가"])
labels = st.lists(words, max_size=3)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@given(own=labels, first=labels, second=labels)
def test_new_source_metadata_replaces_the_old_and_keeps_document_labels(own, first, second):
    document_metadata = {"labels": own, "encoding": "utf-8"}
    result = source_metadata(source_metadata(document_metadata, "old", first), "new", second)
    assert result == source_metadata(document_metadata, "new", second)
    assert set(inherited_metadata(result, NOON)["labels"]) == {*own, *second}
    assert inherited_metadata(result, NOON)["collection"] == "new"
    assert result["encoding"] == "utf-8"


def test_the_modification_time_defaults_to_the_time_of_the_import():
    assert inherited_metadata({}, NOON)["modified_at"] == "2026-11-21T12:00:00Z"
    metadata = {"modified_at": "2020-01-02T03:04:05Z"}
    assert inherited_metadata(metadata, NOON)["modified_at"] == "2020-01-02T03:04:05Z"


times = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9))]))


@given(one=times, other=times)
def test_formatted_times_sort_chronologically(one, other):
    one, other = one.replace(microsecond=0), other.replace(microsecond=0)
    in_range = datetime(2, 1, 1, tzinfo=UTC)
    one, other = max(one, in_range), max(other, in_range)
    assert (utc_text(one) < utc_text(other)) is (one < other)
