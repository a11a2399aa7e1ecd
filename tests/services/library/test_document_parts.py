import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.library import document_parts as module
from services.library.document_parts import Heading, document_parts
from services.library.document_style import Style
from tests.linear_time import require_linear_time


@pytest.fixture
def short_parts(monkeypatch):
    monkeypatch.setattr(module, "PART_CHARACTERS", 60)


def parts_of(text, style=Style.MARKDOWN):
    return [text[part.start : part.end] for part in document_parts(text, style).parts]


def titles_of(text, style=Style.MARKDOWN):
    return [one.title for one in document_parts(text, style).headings]


def test_headings_have_their_positions_levels_and_visible_titles():
    text = "# One #\n\ntext\n## **Two** [link](http://x)\n\n```\n# code\n```\n#no\n### C#"
    assert document_parts(text, Style.MARKDOWN).headings == (
        Heading(0, 1, "One"),
        Heading(text.index("##"), 2, "Two link"),
        Heading(text.index("###"), 3, "C#"),
    )


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("One\n===\n\nTwo\nlines\n---\n", ["One", "Two lines"]),
        ("> # In a quote\n> text", ["In a quote"]),
        ("- # In a list\n\n  Text\n  ---\n1. ## And a list", ["In a list", "Text", "And a list"]),
        ("---\n# comment\ntitle: Leave\n---\n# Leave", ["Leave"]),
        ("# ![The logo](logo.png) Leave", ["The logo Leave"]),
        ("# `code` and \\*stars\\*", ["code and *stars*"]),
        ("    # code\n\n#\n\n# ![](logo.png)", []),
        ("```a``` is a command.\n# Title", ["Title"]),
    ],
)
def test_the_headings_of_markdown_are_those_that_the_page_shows(text, titles):
    assert titles_of(text) == titles


def test_extracted_text_has_only_the_headings_that_its_readers_write():
    text = "---\nname: *x*\n---\n# A *star*\n\nnot a heading\n===\n"
    assert titles_of(text, Style.EXTRACTED) == ["A *star*"]


def test_plain_text_has_no_headings():
    assert titles_of("# install it", Style.PLAIN) == []


def test_of_too_many_headings_the_deepest_are_left_out():
    text = "# Top\n" + "## Section\n### Detail\n" * (module.MAX_HEADINGS - 1)
    levels = [heading.level for heading in document_parts(text, Style.MARKDOWN).headings]
    assert levels == [1, *[2] * (module.MAX_HEADINGS - 1)]


BLOCKS = ["# b\n", "\n\n", "| c |\n", "|---|\n", "```\n", "- e\n", "> f\n", "---\n"]


@given(st.lists(st.sampled_from([*BLOCKS, "a", " d", "\r"]), max_size=200), st.sampled_from(Style))
def test_the_parts_are_the_whole_text(pieces, style):
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART_CHARACTERS", 60)
        parts = parts_of(text, style)
        contents = document_parts(text, style)
    assert "".join(parts) == text
    assert all(len(part) <= 60 for part in parts)
    for position in range(len(text)):
        part = contents.parts[contents.part_at(position)]
        assert part.start <= position < part.end
    assert contents.part_at(len(text)) == len(contents.parts) - 1


@pytest.mark.usefixtures("short_parts")
def test_a_part_begins_at_a_heading_or_else_at_a_paragraph():
    text = "a" * 35 + "\n\n" + "b" * 8 + "\n## Next\n" + "c" * 40 + "\n\n" + "d" * 40
    assert [part[:3] for part in parts_of(text)] == ["aaa", "## ", "ddd"]
    assert [part[:3] for part in parts_of(text, Style.PLAIN)] == ["aaa", "bbb", "ddd"]


@pytest.mark.usefixtures("short_parts")
def test_a_part_within_a_list_begins_at_an_item():
    text = "- an item\n  - and its item\n" * 4
    assert all(part.startswith("- an item") for part in parts_of(text))


@pytest.mark.usefixtures("short_parts")
def test_a_part_within_a_table_or_code_begins_with_its_head():
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 9
    code = "```py\n" + "call()\n" * 20 + "```"
    text = f"{table}\n{code}"
    openings = [part.opening for part in document_parts(text, Style.EXTRACTED).parts]
    assert openings[0] == ""
    assert openings[1] == "| a | b |\n|---|---|\n"
    assert openings[-1] == "```py\n"


def test_dividing_a_text_takes_linear_time():
    def divide(size):
        text = "# Heading\n\nSome text of a section.\n```\ncode\n```\n" * size
        return document_parts(text, Style.MARKDOWN)

    require_linear_time(divide, 20_000)
