"""Versions change with all that a reader sees, and with nothing else."""

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
    "changed",
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
def test_every_change_a_reader_sees_changes_the_version(changed):
    assert str(version_of(PAGE | changed)) != str(version_of(PAGE))


@pytest.mark.parametrize(
    "changed",
    [
        {"version": {"number": 3, "when": "2026-02-02T00:00:00Z"}},
        {"metadata": {"labels": {"results": [{"name": "a"}, {"name": "b"}]}}},
        {"_links": {"webui": "/x"}},
        {"extensions": {"position": 7}},
    ],
)
def test_nothing_else_changes_it(changed):
    assert str(version_of(PAGE | changed)) == str(version_of(PAGE))


def test_content_of_which_little_is_told_has_a_version_too():
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
def test_a_version_is_read_as_it_was_written(version):
    assert ContentVersion.parse(str(version)) == version


@given(st.text(max_size=30))
def test_any_text_is_a_version_that_writes_itself_or_none(text):
    version = ContentVersion.parse(text)
    assert version is None or ContentVersion.parse(str(version)) == version


@given(st.lists(st.tuples(st.text(), st.integers()), unique=True), st.randoms())
def test_the_digest_of_comments_knows_no_order(comments, random):
    shuffled = random.sample(comments, len(comments))
    assert digest_of_comments(shuffled) == digest_of_comments(comments)
    assert bool(digest_of_comments(comments)) is bool(comments)


def test_a_comment_that_is_new_edited_or_gone_changes_the_digest():
    digests = [
        digest_of_comments(told) for told in ([("1", 1)], [("1", 2)], [("1", 1), ("2", 1)], [])
    ]
    assert len(set(digests)) == 4
