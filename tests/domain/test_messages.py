"""Messages behave like their English text and keep their template and values."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InputError
from domain.messages import Message, _, from_json, from_text, join_messages, to_json, to_text

EMPTY = _("the file is empty")
NAMED = _("{name}: {reason}").format(name="a.md", reason=EMPTY)
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
MESSAGES = st.recursive(
    TEXTS | st.builds(Message, st.just("plain")),
    lambda inner: st.builds(lambda a, b: _("{a} of {b}").format(a=a, b=b), inner, inner),
    max_leaves=4,
)


def parts(text):
    """What distinguishes two messages of the same text."""
    values = {name: parts(value) for name, value in getattr(text, "values", {}).items()}
    return str(text), getattr(text, "template", None), values


def test_a_message_is_its_english_text():
    assert NAMED == "a.md: the file is empty"
    assert json.dumps([NAMED]) == '["a.md: the file is empty"]'
    assert f"{NAMED}!" == "a.md: the file is empty!"


def test_a_value_that_is_a_message_stays_a_message():
    assert NAMED.values["reason"] is EMPTY
    assert _("{n} pages").format(n=5).values == {"n": "5"}


def test_the_text_of_an_error_is_its_message():
    text = str(InputError(NAMED))
    assert isinstance(text, Message)
    retry = _("{error}. Try again.").format(error=InputError(NAMED))
    assert retry.values["error"] is NAMED


def test_braces_in_values_and_in_messages_without_values_are_literal():
    assert _("{name} is gone").format(name="{x}") == "{x} is gone"
    assert _("write {x}") == "write {x}"


@pytest.mark.parametrize(
    "copy_of", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_equals_the_message(copy_of):
    assert parts(copy_of(NAMED)) == parts(NAMED)


def test_a_joined_message_has_its_parts_as_values():
    joined = join_messages([EMPTY, "plain", NAMED])
    assert joined == "the file is empty; plain; a.md: the file is empty"
    assert [*joined.values.values()] == [EMPTY, "plain", NAMED]
    assert join_messages([]) == ""


@given(MESSAGES)
def test_a_stored_message_is_restored(text):
    restored = from_text(to_text(text))
    assert restored == text
    if getattr(text, "values", {}):
        assert parts(restored) == parts(text)


@given(MESSAGES)
def test_a_message_within_json_is_restored(text):
    stored = json.loads(json.dumps(to_json({"warnings": (text, 4)})))
    assert parts(from_json(stored)["warnings"][0]) == parts(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "an old reason",
        '{"message": ',
        '{"message": "a", "values": {}}',
        '{"message": "{b}", "values": {}, "more": 1}',
    ],
)
def test_plain_text_is_stored_and_read_unchanged(text):
    assert from_text(to_text(text)) == text


@pytest.mark.parametrize("stored", ['{"message": "{a.b}", "values": {"a": "x"}}', '{"message": '])
def test_malformed_stored_messages_are_read_as_text(stored):
    assert isinstance(from_text(stored), str)
