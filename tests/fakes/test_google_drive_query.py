from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.google_drive_items import Item
from tests.fakes.google_drive_query import MAX_TERMS, Query
from tests.fakes.loopback import RefusedError

pytestmark = pytest.mark.slow

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def item(name="Plan.txt", mime="text/plain", parents=(), trashed=False):
    return Item("x", name, mime, "kim", NOON, NOON, list(parents), explicitly_trashed=trashed)


FOLDER = Item("folder-1", "F", "f", "kim", NOON, NOON)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("'folder-1' in parents", True),
        ("'folder-2' in parents", False),
        ("not 'folder-2' in parents", True),
        ("trashed = false", True),
        ("trashed=false and 'folder-1' in parents", True),
        ("trashed != false", False),
        ("mimeType = 'text/plain'", True),
        ("mimeType != 'text/plain'", False),
        ("mimeType contains 'text/'", True),
        ("name = 'plan.TXT'", True),
        ("name contains 'pla'", True),
        ("name contains 'lan'", False),
        ("name != 'Plan.txt'", False),
        ("modifiedTime > '2026-03-01T11:59:59'", True),
        ("modifiedTime > '2026-03-01T13:00:00+00:00'", False),
        ("modifiedTime <= '2026-03-01T12:00:00Z'", True),
        ("('a' in parents or 'folder-1' in parents) and trashed = false", True),
        ("not (trashed = false and name = 'other')", True),
    ],
)
def test_each_term_finds_what_drive_would_find(text, expected):
    assert Query(text).matches(item(parents=[FOLDER])) is expected


def test_and_and_or_are_evaluated_left_to_right():
    # would be true if "and" bound tighter
    assert not Query("trashed = false or trashed = false and name = 'b'").matches(item())
    assert Query("trashed = false or (trashed = false and name = 'b')").matches(item())


def test_a_quote_in_a_name_is_escaped():
    assert Query(r"name = 'Kim\'s \\ plan'").matches(item(r"Kim's \ plan"))


@pytest.mark.parametrize(
    "text",
    [
        "id = 'x'",
        "fullText contains 'x'",
        "'a' in owners",
        "name = 'unended",
        "name = 'a' and",
        "(name = 'a'",
        "name = 'a')",
        "name ~ 'a'",
        "trashed = 'false'",
        "name = x",
        "name < 'a'",
        "modifiedTime > 'yesterday'",
        "modifiedTime contains '2026'",
        "name = 'a' name = 'b'",
        "not",
        "   )",
    ],
)
def test_terms_unknown_to_drive_or_the_fake_are_refused(text):
    with pytest.raises(RefusedError):
        Query(text)


def test_too_many_terms_are_refused():
    Query(" or ".join(["trashed = true"] * MAX_TERMS))
    with pytest.raises(RefusedError, match="too complex"):
        Query(" or ".join(["trashed = true"] * (MAX_TERMS + 1)))


TERMS = st.sampled_from(["trashed = true", "trashed = false", "name = 'a'", "'f' in parents"])
TREES = st.recursive(
    TERMS.map(lambda term: (term,)),
    lambda inner: (
        inner.map(lambda one: ("not", one))
        | st.tuples(inner, st.sampled_from(["and", "or"]), inner)
    ),
    max_leaves=12,
)


def render(tree):
    if len(tree) == 1:
        return tree[0]
    if len(tree) == 2:
        return f"not ({render(tree[1])})"
    return f"({render(tree[0])}) {tree[1]} ({render(tree[2])})"


def evaluate(tree, subject):
    if len(tree) == 1:
        return {
            "trashed = true": subject.trashed,
            "trashed = false": not subject.trashed,
            "name = 'a'": subject.name == "a",
            "'f' in parents": any(parent.id == "f" for parent in subject.parents),
        }[tree[0]]
    if len(tree) == 2:
        return not evaluate(tree[1], subject)
    left, right = evaluate(tree[0], subject), evaluate(tree[2], subject)
    return left and right if tree[1] == "and" else left or right


@given(TREES, st.booleans(), st.sampled_from("ab"), st.booleans())
def test_any_combination_of_terms_is_evaluated_correctly(tree, trashed, name, is_in):
    parents = [Item("f", "F", "f", "kim", NOON, NOON)] if is_in else []
    subject = item(name, parents=parents, trashed=trashed)
    assert Query(render(tree)).matches(subject) is evaluate(tree, subject)


@given(st.text("abcdefgh '\\()=<>!notandr", max_size=30))
def test_any_other_text_is_parsed_or_refused(text):
    try:
        Query(text).matches(item())
    except RefusedError:
        return
