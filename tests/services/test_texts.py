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
def test_each_character_that_cannot_be_stored_is_replaced_by_one(text):
    sanitized = sanitize(text)
    sanitized.encode()
    assert len(sanitized) == len(text)
    assert all(
        new == ("\ufffd" if old == "\0" or "\ud800" <= old <= "\udfff" else old)
        for new, old in zip(sanitized, text, strict=True)
    )


@given(ANY_JSON)
def test_sanitized_json_can_be_encoded(value):
    sanitized = sanitize_json(value)
    json.dumps(sanitized, ensure_ascii=False, allow_nan=False).encode()
    assert sanitize_json(sanitized) == sanitized


def test_values_that_json_does_not_support_become_strings():
    assert sanitize_json({"a": float("nan"), "b": {1}}) == {"a": "NaN", "b": "{1}"}
