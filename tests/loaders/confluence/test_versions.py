"""Versions change with everything that a reader sees, and with nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders.confluence.confluence_content import ContentVersion, digest_of_comments, version_of

PAGE = {
    "id": "5",
    "title": "T",
    "status": "current",
    "version": {"number": 3, "when": "2026-01-01T00:00:00Z"},
    "space": {"key": "DOC", "name": "Docs"},
    "ancestors": [{"id": "1", "title": "Top"}],
    "metadata": {"labels": {"results": [{"name": "b"}, {"name": "a"}]}},
}


@pytest.mark.parametrize(
    "change",
    [
        {"title": "U"},
        {"version": {"number": 4}},
        {"space": {"key": "HR", "name": "Docs"}},
        {"space": {"key": "DOC", "name": "Documents"}},
        {"ancestors": []},
        {"ancestors": [{"id": "1", "title": "Renamed"}]},
        {"metadata": {"labels": {"results": [{"name": "a"}]}}},
        {"status": "archived"},
        {"container": {"id": "1", "title": "Page"}},
    ],
)
def test_visible_changes_change_the_version(change):
    assert str(version_of(PAGE | change)) != str(version_of(PAGE))


@pytest.mark.parametrize(
    "change",
    [
        {"version": {"number": 3, "when": "2026-02-02T00:00:00Z"}},
        {"metadata": {"labels": {"results": [{"name": "a"}, {"name": "b"}]}}},
        {"_links": {"webui": "/x"}},
        {"extensions": {"position": 7}},
    ],
)
def test_invisible_changes_do_not_change_the_version(change):
    assert str(version_of(PAGE | change)) == str(version_of(PAGE))


def test_content_without_a_version_number_has_version_zero():
    assert version_of({"id": "5"}).number == 0


@given(
    st.builds(
        ContentVersion,
        st.integers(min_value=0, max_value=10**9),
        st.text(),
        st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
        st.from_regex(r"(?:[0-9a-f]{16})?", fullmatch=True),
    )
)
def test_parsing_reverses_formatting(version):
    assert ContentVersion.parse(str(version)) == version


@given(st.text(max_size=30))
def test_any_text_is_a_stable_version_or_none(text):
    version = ContentVersion.parse(text)
    assert version is None or ContentVersion.parse(str(version)) == version


@given(st.lists(st.tuples(st.text(), st.integers()), unique=True), st.randoms())
def test_the_digest_does_not_depend_on_the_order_of_comments(comments, random):
    shuffled = random.sample(comments, len(comments))
    assert digest_of_comments(shuffled) == digest_of_comments(comments)
    assert bool(digest_of_comments(comments)) is bool(comments)


def test_added_edited_and_deleted_comments_change_the_digest():
    digests = [
        digest_of_comments(comments)
        for comments in ([("1", 1)], [("1", 2)], [("1", 1), ("2", 1)], [])
    ]
    assert len(set(digests)) == 4
