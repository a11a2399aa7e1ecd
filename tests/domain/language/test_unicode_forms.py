from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from domain.language.unicode_forms import forms_of


@given(st.text())
def test_the_forms_are_the_text_and_its_normal_forms(text):
    assert forms_of(text) == {text, normalize("NFC", text), normalize("NFD", text)}


def test_most_texts_have_one_form_and_hangul_has_two():
    assert forms_of("Leave 2026") == {"Leave 2026"}
    assert forms_of("休暇") == {"休暇"}
    assert forms_of("가") == forms_of("\u1100\u1161") == {"가", "\u1100\u1161"}
