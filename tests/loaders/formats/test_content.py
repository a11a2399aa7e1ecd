import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaders.formats.content import (
    clean,
    fenced,
    file_title,
    heading,
    join_pages,
    pipe_table,
    without_empty_columns,
)


@settings(deadline=None)
@given(st.text(st.characters()))
def test_cleaning_twice_changes_nothing_more(text):
    once = clean(text)
    assert clean(once) == once
    assert not re.search("[\0\r\ud800-\udfff]", once)


@settings(deadline=None)
@given(st.lists(st.text(st.characters()), max_size=6))
def test_page_offsets_point_to_the_text_of_the_page(pages):
    text, starts = join_pages(pages)
    assert clean(text) == text
    for start, number in starts:
        own = clean(pages[number - 1]).strip()
        assert text[start : start + len(own)] == own != ""
    assert len(starts) == sum(bool(clean(page).strip()) for page in pages)


@settings(deadline=None)
@given(st.lists(st.lists(st.text("a|\\ \n"), max_size=4), max_size=5))
def test_a_pipe_table_has_a_line_for_each_row_with_text(rows):
    table = pipe_table(rows)
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    assert len(table.splitlines()) == (len(filled) + 1 if filled else 0)


def test_only_columns_without_text_are_removed():
    assert without_empty_columns([["a", "", "b"], ["", " ", "c"], ["d"]]) == [
        ["a", "b"], ["", "c"], ["d"],
    ]  # fmt: skip


def test_headings_have_at_most_six_levels_and_one_line():
    assert heading(9, "a\n b") == "###### a b"


@settings(deadline=None)
@given(st.text("`ab\n"))
def test_a_code_fence_never_occurs_in_the_code(code):
    fence = fenced(code).split("\n", 1)[0]
    assert fence not in code


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Leave policy", "Leave policy"),
        ("휴가\n규정", "휴가 규정"),
        ("Microsoft Word - x", ""),
        ("Untitled", ""),
        ("PowerPoint 프레젠테이션", ""),
        ("plan.final.docx", ""),
        ("Document imaging guide", "Document imaging guide"),
        (None, ""),
    ],
)
def test_titles_that_programs_set_are_ignored(title, expected):
    assert file_title(title) == expected
