import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.library import document_parts as module
from services.library.document_parts import Heading, document_parts
from tests.linear_time import require_linear_time


@pytest.fixture
def short_parts(monkeypatch):
    monkeypatch.setattr(module, "PART_CHARACTERS", 60)
    document_parts.cache_clear()
    yield
    document_parts.cache_clear()


def parts_of(text, **options):
    return [text[part.start : part.end] for part in document_parts(text, **options).parts]


def test_headings_have_their_positions_levels_and_visible_titles():
    text = "# One #\n\ntext\n## **Two** [link](http://x)\n\n```\n# code\n```\n#no\n### C#"
    assert document_parts(text).headings == (
        Heading(0, 1, "One"),
        Heading(text.index("##"), 2, "Two link"),
        Heading(text.index("###"), 3, "C"),
    )


def test_inline_code_at_the_start_of_a_line_is_no_fence():
    assert [one.title for one in document_parts("```a``` is a command.\n# Title").headings] == [
        "Title"
    ]


def test_plain_text_has_no_headings():
    assert document_parts("# install it", is_plain=True).headings == ()


def test_of_too_many_headings_the_deepest_are_left_out():
    text = "# Top\n" + "## Section\n### Detail\n" * (module.MAX_HEADINGS - 1)
    levels = [heading.level for heading in document_parts(text).headings]
    assert levels == [1, *[2] * (module.MAX_HEADINGS - 1)]


@given(st.lists(st.sampled_from(["a", "# b\n", "\n\n", "| c |\n", "```\n", " d"]), max_size=200))
def test_the_parts_are_the_whole_text(pieces):
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART_CHARACTERS", 60)
        document_parts.cache_clear()
        parts = parts_of(text)
        contents = document_parts(text)
        document_parts.cache_clear()
    assert "".join(parts) == text
    assert all(len(part) <= 60 for part in parts)
    for position in range(len(text)):
        part = contents.parts[contents.part_at(position)]
        assert part.start <= position < part.end
    assert contents.part_at(len(text)) == len(contents.parts) - 1


@pytest.mark.usefixtures("short_parts")
def test_a_part_begins_at_a_heading_or_else_at_a_paragraph():
    text = "a" * 35 + "\n\n" + "b" * 10 + "\n## Next\n" + "c" * 40 + "\n\n" + "d" * 40
    assert [part[:3] for part in parts_of(text)] == ["aaa", "## ", "ddd"]


@pytest.mark.usefixtures("short_parts")
def test_a_part_within_a_table_or_code_begins_with_its_head():
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 9
    code = "```py\n" + "call()\n" * 20 + "```"
    text = f"{table}\n{code}"
    openings = [part.opening for part in document_parts(text).parts]
    assert openings[0] == ""
    assert openings[1] == "| a | b |\n|---|---|\n"
    assert openings[-1] == "```py\n"


def test_dividing_a_text_takes_linear_time():
    def divide(size):
        document_parts.cache_clear()
        return document_parts("# Heading\n\nSome text of a section.\n```\ncode\n```\n" * size)

    require_linear_time(divide, 20_000)
