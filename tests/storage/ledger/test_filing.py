from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from storage.ledger.document_store import inherited_metadata, source_metadata, utc_text

words = st.sampled_from(["hr", "it", "휴가"])
labels = st.lists(words, max_size=3)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@given(own=labels, first=labels, second=labels)
def test_a_source_filed_anew_leaves_nothing_of_before_and_keeps_the_documents_own(
    own, first, second
):
    told = {"labels": own, "encoding": "utf-8"}
    anew = source_metadata(source_metadata(told, "old", first), "new", second)
    assert anew == source_metadata(told, "new", second)
    assert set(inherited_metadata(anew, NOON)["labels"]) == {*own, *second}
    assert inherited_metadata(anew, NOON)["collection"] == "new"
    assert anew["encoding"] == "utf-8"


def test_a_document_without_a_moment_of_change_has_that_of_its_import():
    assert inherited_metadata({}, NOON)["modified_at"] == "2026-11-21T12:00:00Z"
    known = {"modified_at": "2020-01-02T03:04:05Z"}
    assert inherited_metadata(known, NOON)["modified_at"] == "2020-01-02T03:04:05Z"


moments = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9))]))


@given(one=moments, other=moments)
def test_moments_as_texts_sort_as_the_moments_do(one, other):
    one, other = one.replace(microsecond=0), other.replace(microsecond=0)
    in_range = datetime(2, 1, 1, tzinfo=UTC)
    one, other = max(one, in_range), max(other, in_range)
    assert (utc_text(one) < utc_text(other)) is (one < other)
