from hypothesis import given
from hypothesis import strategies as st

from loaders.formats.content import join_pages
from loaders.google_drive.google_drive_loader import number_slides, without_pictures

SLIDES = st.lists(st.text(alphabet="ab# \n", max_size=12), max_size=6)


def test_slide_numbers_precede_titles():
    text, pages = join_pages(["# Goals\n\nGrow", "", "Only a picture's words"])
    result, starts = number_slides(text, pages)
    assert result == "## Slide 1: Goals\n\nGrow\n\n## Slide 3\n\nOnly a picture's words"
    assert [(result[start:][:10], number) for start, number in starts] == [
        ("## Slide 1", 1),
        ("## Slide 3", 3),
    ]


@given(SLIDES)
def test_every_page_begins_with_its_number_and_loses_no_word(slides):
    text, pages = join_pages(slides)
    result, starts = number_slides(text, pages)
    assert [number for _, number in starts] == [number for _, number in pages]
    for start, number in starts:
        assert result[start:].startswith(f"## Slide {number}")
    assert result.count("a") == text.count("a") + result.count("## Slide") * "Slide".count("a")
    assert result.count("b") == text.count("b")


def test_text_without_pages_stays_unchanged():
    assert number_slides("text", []) == ("text", [])


def test_embedded_pictures_are_replaced_by_their_names():
    markdown = (
        "# Plan\n\nSee ![the map][image1] and ![][image2].\n\n"
        "[image1]: <data:image/png;base64,iVBORw0KGgo=>\n\n"
        "[image2]: <data:image/png;base64,AAAA>\n"
    )
    assert without_pictures(markdown).strip() == "# Plan\n\nSee the map and ."


@given(st.text())
def test_markdown_without_embedded_pictures_stays_unchanged(text):
    markdown = text.replace("data:", "")
    assert without_pictures(markdown) == markdown


def test_reference_links_stay_unchanged():
    markdown = "See [the guide][1].\n\n[1]: https://example.org\n"
    assert without_pictures(markdown) == markdown
