import json

from hypothesis import given
from hypothesis import strategies as st

from services.texts import sanitize, sanitize_json

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)


@given(ANY_TEXT)
def test_only_half_characters_are_replaced_each_by_one(text):
    made = sanitize(text)
    made.encode()
    assert len(made) == len(text)
    assert all(
        one == was or "\ud800" <= was <= "\udfff" for one, was in zip(made, text, strict=True)
    )


@given(ANY_JSON)
def test_any_json_becomes_json_that_can_be_sent(value):
    made = sanitize_json(value)
    json.dumps(made, ensure_ascii=False, allow_nan=False).encode()
    assert sanitize_json(made) == made


def test_what_json_does_not_know_is_a_string():
    assert sanitize_json({"a": float("nan"), "b": {1}}) == {"a": "NaN", "b": "{1}"}
