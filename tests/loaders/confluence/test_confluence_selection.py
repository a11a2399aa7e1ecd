"""Queries match the selection, whatever users type."""

import base64
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import SourceError
from loaders.confluence.confluence_selection import (
    ConfluenceSelection,
    Scope,
    cql_string,
    page_id_of,
    parts_query,
)

PAGES = "type in (page, blogpost)"
ORDER = "order by created"


@pytest.mark.parametrize(
    ("selection", "trees", "clause"),
    [
        (ConfluenceSelection(), (), ""),
        (
            ConfluenceSelection(Scope.SPACES, spaces=("DOC", "~kim")),
            (),
            ' and space in ("DOC", "~kim")',
        ),
        (ConfluenceSelection(Scope.TREES), ("1", "2"), " and (id in (1, 2) or ancestor in (1, 2))"),
        (ConfluenceSelection(Scope.LABELS, page_labels=("Guide",)), (), ' and label in ("guide")'),
        (
            ConfluenceSelection(Scope.CQL, cql="title ~ x or text ~ y"),
            (),
            " and (title ~ x or text ~ y)",
        ),
        (
            ConfluenceSelection(skip_labels=("Draft", "old")),
            (),
            ' and label not in ("draft", "old")',
        ),
    ],
)
def test_each_scope_has_its_clause(selection, trees, clause):
    assert selection.pages_query(trees) == f"{PAGES}{clause} {ORDER}"


@pytest.mark.parametrize(
    ("cql", "condition"),
    [
        ("space = A ORDER BY title desc", "(space = A)"),
        ('title = "order by me"', '(title = "order by me")'),
        ('title = "order by me" order by created', '(title = "order by me")'),
    ],
)
def test_the_order_clause_of_a_custom_query_is_replaced(cql, condition):
    query = ConfluenceSelection(Scope.CQL, cql=cql).pages_query()
    assert query == f"{PAGES} and {condition} {ORDER}"


@pytest.mark.parametrize("cql", ["space = HR) or (type = page", "(space = HR", "space = HR)"])
def test_queries_with_unbalanced_brackets_are_rejected(cql):
    with pytest.raises(SourceError, match="unmatched bracket"):
        ConfluenceSelection(Scope.CQL, cql=cql).pages_query()


@pytest.mark.parametrize("cql", ['title = "a) or (b"', "(a = 'it\\') ' or b = 1) and c = 2"])
def test_brackets_in_quoted_strings_are_ignored(cql):
    assert f"({cql})" in ConfluenceSelection(Scope.CQL, cql=cql).pages_query()


def test_modification_times_are_queried_in_utc_to_the_minute():
    since = datetime(2026, 11, 21, 1, 30, 59, tzinfo=timezone(timedelta(hours=9)))
    assert ConfluenceSelection().pages_query(since=since) == (
        f'{PAGES} and lastmodified >= "2026-11-20 16:30" {ORDER}'
    )
    assert parts_query("comment", ["A", "B"], datetime(2026, 1, 1, tzinfo=UTC)) == (
        f'type = comment and space in ("A", "B") and lastmodified >= "2026-01-01 00:00" {ORDER}'
    )


@given(st.text())
def test_quoted_text_cannot_escape_its_quotes(text):
    cql = cql_string(text)
    assert re.fullmatch(r'"(?:[^"\\\n\r]|\\["\\])*"', cql)
    assert re.sub(r"\\(.)", r"\1", cql[1:-1]) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (" 123 ", "123"),
        ("https://a.atlassian.net/wiki/spaces/DOC/pages/123/Title+456", "123"),
        ("https://a.atlassian.net/wiki/spaces/DOC/pages/edit-v2/123", "123"),
        ("https://h/pages/viewpage.action?spaceKey=A&pageId=123#x", "123"),
        ("https://h/display/DOC/Title", None),
        ("a title", None),
    ],
)
def test_page_ids_are_read_from_ids_and_addresses(text, page):
    assert page_id_of(text) == page


@given(st.integers(min_value=1, max_value=2**40))
def test_page_ids_are_read_from_short_addresses(number):
    data = number.to_bytes(8, "little")
    tiny = base64.b64encode(data).decode().rstrip("=").rstrip("A")
    tiny = tiny.replace("/", "-").replace("+", "_")
    assert page_id_of(f"https://h/x/{tiny}") == str(number)


def page(**fields):
    content = {
        "id": "5",
        "type": "page",
        "space": {"key": "DOC"},
        "ancestors": [{"id": "1"}, {"id": "3"}],
        "metadata": {"labels": {"results": [{"name": "guide"}]}},
    }
    return content | fields


@pytest.mark.parametrize(
    ("selection", "trees", "matches"),
    [
        (ConfluenceSelection(), (), True),
        (ConfluenceSelection(skip_labels=("Guide",)), (), False),
        (ConfluenceSelection(Scope.SPACES, spaces=("doc",)), (), True),
        (ConfluenceSelection(Scope.SPACES, spaces=("HR",)), (), False),
        (ConfluenceSelection(Scope.TREES), ("3",), True),
        (ConfluenceSelection(Scope.TREES), ("5",), True),
        (ConfluenceSelection(Scope.TREES), ("4",), False),
        (ConfluenceSelection(Scope.LABELS, page_labels=("Guide", "x")), (), True),
        (ConfluenceSelection(Scope.LABELS, page_labels=("x",)), (), False),
        (ConfluenceSelection(Scope.CQL, cql="title ~ x"), (), None),
    ],
)
def test_a_selection_matches_pages_without_a_request(selection, trees, matches):
    assert selection.takes(page(), trees) is matches


def test_selections_match_only_pages_and_blog_posts():
    assert ConfluenceSelection().takes(page(type="blogpost"), ())
    assert not ConfluenceSelection().takes(page(type="whiteboard"), ())
