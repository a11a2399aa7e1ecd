"""Messages keep their template and values wherever they go, and are plain English everywhere."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.messages import Message, _, from_json, from_text, join_messages, to_json, to_text
from errors import InputError

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


def test_a_value_that_is_a_message_stays_one():
    assert NAMED.values["reason"] is EMPTY
    assert _("{n} pages").format(n=5).values == {"n": "5"}


def test_an_error_that_is_turned_into_text_gives_its_message():
    shown = str(InputError(NAMED))
    assert isinstance(shown, Message)
    again = _("{error}. Try again.").format(error=InputError(NAMED))
    assert again.values["error"] is NAMED


def test_braces_in_values_and_in_a_message_without_values_stand_for_themselves():
    assert _("{name} is gone").format(name="{x}") == "{x} is gone"
    assert _("write {x}") == "write {x}"


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_is_the_same_message(copied):
    assert parts(copied(NAMED)) == parts(NAMED)


def test_messages_are_joined_to_one_that_still_has_them():
    told = join_messages([EMPTY, "plain", NAMED])
    assert told == "the file is empty; plain; a.md: the file is empty"
    assert [*told.values.values()] == [EMPTY, "plain", NAMED]
    assert join_messages([]) == ""


@given(MESSAGES)
def test_a_stored_message_comes_back_as_it_was(text):
    read = from_text(to_text(text))
    assert read == text
    if getattr(text, "values", {}):
        assert parts(read) == parts(text)


@given(MESSAGES)
def test_a_message_within_json_comes_back_as_it_was(text):
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
def test_plain_text_is_stored_and_read_as_it_is(text):
    assert from_text(to_text(text)) == text


@pytest.mark.parametrize("stored", ['{"message": "{a.b}", "values": {"a": "x"}}', '{"message": '])
def test_what_nothing_of_ours_wrote_is_shown_without_an_error(stored):
    assert isinstance(from_text(stored), str)
