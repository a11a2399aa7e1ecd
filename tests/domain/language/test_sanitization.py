from hypothesis import given
from hypothesis import strategies as st

from domain.language.sanitization import sanitize


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_each_character_that_cannot_be_stored_is_replaced_by_one(text):
    sanitized = sanitize(text)
    sanitized.encode()
    assert len(sanitized) == len(text)
    assert all(
        new == ("\ufffd" if old == "\0" or "\ud800" <= old <= "\udfff" else old)
        for new, old in zip(sanitized, text, strict=True)
    )
