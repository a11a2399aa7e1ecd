import json

from hypothesis import given
from hypothesis import strategies as st

from services.texts import sanitize_json

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)


@given(ANY_JSON)
def test_sanitized_json_can_be_encoded(value):
    sanitized = sanitize_json(value)
    json.dumps(sanitized, ensure_ascii=False, allow_nan=False).encode()
    assert sanitize_json(sanitized) == sanitized


def test_values_that_json_does_not_support_become_strings():
    assert sanitize_json({"a": float("nan"), "b": {1}}) == {"a": "NaN", "b": "{1}"}
