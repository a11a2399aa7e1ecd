import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chains.citations.marker_parser import MarkerParser
from chains.citations.markers import Marker
from chains.citations.quotes import find_quote
from chains.citations.visible_text import FORMS, escape, lookalikes, neutralize, restoration

PARTS = [
    "[42]", "[1, 2]", "[", "]", " ", "1", "a word", "［４２］", "【1】", "【1†x】", "[1: ",
    '"a b c"', "⟦", "⟧", "⟬4⟭", "〖注〗", "(x)", "\n", "`", "\\", "*", "_", "표 3", "付録",
]  # fmt: skip
texts = st.lists(st.sampled_from(PARTS), max_size=15).map("".join)


def markers_of(text):
    return [piece for piece in MarkerParser().parse(text) if isinstance(piece, Marker)]


@given(texts)
def test_a_neutralized_text_has_no_marker_and_can_be_restored(text):
    neutral = neutralize(text, lookalikes([text]))
    assert not markers_of(neutral)
    assert len(neutral) == len(text)
    if len(set(text) & set(FORMS)) < 2:
        assert neutral.translate(restoration([text])) == text


def test_a_lookalike_that_occurs_in_the_texts_is_neither_used_nor_restored():
    text = "The glyph ⟦4⟧ and [42]"
    neutral = neutralize(text, lookalikes([text]))
    assert neutral == "The glyph ⟦4⟧ and ⟬42⟭"
    assert neutral.translate(restoration([text])) == text


@pytest.mark.parametrize(
    "text", ["[a link](x)", "- [ ] to do", "[^1]", 'config["key"]', "［注］", "[see 9]"]
)
def test_brackets_that_are_not_markers_are_unchanged(text):
    assert neutralize(text, lookalikes([text])) == text


@given(texts)
def test_escaped_words_are_rendered_literally_and_have_no_marker(text):
    words = " ".join(text.split())
    [inline] = MarkdownIt("commonmark").disable("entity").parseInline(f"“{escape(words)}”")
    assert inline.children
    assert {one.type for one in inline.children} == {"text"}
    assert "".join(one.content for one in inline.children) == f"“{words}”"
    assert all(one.raw[0] != "[" for one in markers_of(escape(words)))


@pytest.mark.parametrize("words", ["a\n~~~\nb", "a\n  ~~~~ b", "a\n- ~~~\n  b", "~~~ a"])
def test_escaped_lines_begin_no_code_block(words):
    assert "fence" in {token.type for token in MarkdownIt().parse(words)}
    assert "fence" not in {token.type for token in MarkdownIt().parse(escape(words))}


@pytest.mark.parametrize(
    "quote", ["method ⟦42⟧ of Kim", "method ⟬42⟭ of Kim", "method [42] of Kim"]
)
def test_a_quote_with_the_brackets_of_the_prompt_is_found(quote):
    text = "The method [42] of Kim"
    assert find_quote(text, quote) == (4, len(text))
