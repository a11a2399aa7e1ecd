import io

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders.formats import read_document
from loaders.formats.content import Content
from loaders.formats.titles import document_title, name_in_folder
from tests.loaders.formats.files import pdf_file


def title(text: str, name: str = "file.md", own: str = "") -> str:
    return document_title(Content(text, own), name)


def test_comments_in_plain_text_are_not_titles():
    script = "Converts a file.\n\n# Get plain text\npdftotext a.pdf\n"
    assert title(script, "howto.txt") == "howto"
    assert title("# Get plain text\npdftotext a.pdf\n", "howto.txt") == "howto"


@pytest.mark.parametrize(
    "chapter",
    [
        "CHAPTER 1 – INTRODUCTION", "1. Purpose", "1 Introduction", "2.3 Scope", "Contents",
        "Appendix A: Forms", "제1장 총칙", "第二章 休暇", "목차", "はじめに", "Overview",
    ],
)  # fmt: skip
def test_chapter_headings_are_not_titles(chapter):
    assert title(f"# {chapter}\n\ntext\n", "handbook.md") == "handbook"


@pytest.mark.parametrize(
    "heading",
    ["2026 travel policy", "3 days in Busan", "Introduction to welding", "휴가 규정", "休暇規程"],
)
def test_a_heading_at_the_top_is_the_title(heading):
    assert title(f"# {heading}\n\ntext\n\n# Next\n") == heading


def test_badges_and_html_above_the_first_heading_are_ignored():
    badges = "<p align=center>\n<!-- logo -->\n[![build](a.svg)](b)\n\n"
    assert title(f"{badges}# Tide\n\n# Install\n") == "Tide"


def test_a_heading_below_other_text_is_the_title_only_if_it_is_unique():
    assert title("Home / Docs\n\n# Tide\n\n## Install\n") == "Tide"
    assert title("Welcome.\n\n# Install\n\n# Use\n") == "file"
    assert title("## Before\n\n# Tide\n") == "file"
    assert title("CARD\n\n# 2 % back in cafés\n", "card.pdf") == "card"


def test_underlined_and_asciidoc_headings_are_recognized():
    assert title("Tide sensor\n===========\n\ntext\n") == "Tide sensor"
    assert title(":toc:\n// draft\n= Tide sensor\n\n== Use\n", "index.adoc.txt") == "Tide sensor"
    assert title("=====\nTide\n=====\n\ntext\n", "setup/tide.rst.txt") == "Tide"


def test_the_title_property_takes_precedence_over_the_heading():
    assert title("# Rules\n\nThe handbook for all.\n", own="Staff handbook") == "Staff handbook"


def test_the_heading_takes_precedence_over_the_title_of_a_template():
    text = "# Travel policy\n\nWho travels for us is paid back.\n"
    assert title(text, "travel.docx", own="Acme quarterly letter") == "Travel policy"
    assert title("Who travels is paid back.", "travel.docx", own="Letter template") == "travel"
    assert title("A template for offers.", "offer.docx", own="Offer template") == "Offer template"


def test_common_file_names_are_prefixed_with_their_folder():
    assert title("text", "docs/setup/index.adoc.txt") == "setup/index.adoc"
    assert title("## Use\n", "tools/README.md") == "tools/README"
    assert title("text", "README.md") == "README"
    assert title("text", "setup/indexing.md") == "indexing"
    assert name_in_folder("README.md", "Tools") == "Tools/README.md"
    assert name_in_folder("Plan", "Tools") == "Plan"


def test_html_titles_that_are_file_names_are_ignored():
    page = b"<html><head><title>report-10k.htm</title></head><body><p>Text</p></body></html>"
    assert read_document("year.html", page).metadata["title"] == "year"


def test_the_first_chapter_after_a_cover_page_is_not_the_title():
    document = docx.Document()
    document.add_paragraph("Travel handbook")
    document.add_heading("Who may travel", 1)
    document.add_heading("Who pays", 1)
    file = io.BytesIO()
    document.save(file)
    assert read_document("travel.docx", file.getvalue()).metadata["title"] == "travel"


def test_the_heading_of_a_table_of_contents_is_not_the_title():
    data = pdf_file(["Contents"])
    assert read_document("manual.pdf", data).metadata["title"] == "manual"


@given(text=st.text(alphabet="#= a1장\n`-", max_size=200), own=st.text(max_size=300))
def test_every_document_has_a_short_single_line_title(text, own):
    for name in ("a.md", "b/index.adoc.txt", "c.pdf"):
        result = document_title(Content(text, own), name)
        assert result.strip() == result
        assert 0 < len(result) <= 200
        assert "\n" not in result
