"""Templates: made from literals of the code, and matched with the texts made from them."""

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ui.text_templates import Pieces, is_for_people, template_of


def template(code, constants=None):
    return template_of(ast.parse(code, mode="eval").body, (constants or {}).get)


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ('"the file is empty"', "the file is empty"),
        ('"half of " "it"', "half of it"),
        ('f"page {n} of {len(pages)}"', "page {n} of {pages}"),
        ('f"{self._store.folder} is gone"', "{folder} is gone"),
        ('f"{_why(error)}: {error.strerror}"', "{why}: {strerror}"),
        ('f"{_mib(a)} of {_mib(b)} and {_mib(c)}"', "{mib} of {mib2} and {mib3}"),
        ('f"no {x!r}, really no {x!r}"', "no {x}, really no {x}"),
        ('f"{n:,} of {total:.1f}"', "{n} of {total}"),
        ("f\"{problem['msg']}\"", "{msg}"),
        ('f"{1 + 1} left"', "{value} left"),
        ('f"such as {{a}} {b}"', "such as {{a}} {b}"),
        ('"{a}"', "{{a}}"),
    ],
)
def test_a_literal_becomes_a_template_with_named_places(code, made):
    assert template(code) == made


def test_a_constant_within_a_text_is_part_of_it():
    assert template('f"set {NAME} to {value}"', {"NAME": "FOOTNOTE_{X}"}) == (
        "set FOOTNOTE_{{X}} to {value}"
    )


@pytest.mark.parametrize("text", ["the file is empty", "{n} files", "in {s} s", "now {path}"])
def test_a_text_with_a_word_beside_a_blank_is_for_people(text):
    assert is_for_people(text)


@pytest.mark.parametrize(
    "text", ["pdf", "{size} MiB", "uploads/{id}", "FOOTNOTE_{name}", "{a} ({b})", ", ", ""]
)
def test_a_name_or_a_value_is_not(text):
    assert not is_for_people(text)


ANYTHING = st.text() | st.sampled_from(["{x}", "}", ".*", "(a|b)", "[", "\\1", "제목", "a\nb", ""])


@given(ANYTHING, ANYTHING, ANYTHING)
@example("(of", "of", ": ")
def test_a_text_made_from_a_template_is_made_again_from_what_is_read_in_it(what, why, more):
    made = "{{no}} {what} of *.md: {why} [{more}]"
    text = made.format(what=what, why=why, more=more)
    values = Pieces.of(made).values(text)
    assert values is not None
    assert made.format(**values) == text


@given(st.text(alphabet="ab제{}.*\n"), st.text(alphabet="ab제{}.*\n"))
def test_values_without_the_words_between_them_are_read_as_they_were_put_in(what, why):
    made = "{what} can't be opened: {why}"
    assert Pieces.of(made).values(made.format(what=what, why=why)) == {"what": what, "why": why}


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("{a} is gone", "a is going"),
        ("no {a}", "not"),
        ("aba{x}aba", "aba"),
        ("{a}, not {a}", "1, not 2"),
        ("x{a}y{b}z", "xaz"),
        ("the file is empty", "the file is empty."),
    ],
)
def test_another_text_is_not_read(made, text):
    assert Pieces.of(made).values(text) is None
