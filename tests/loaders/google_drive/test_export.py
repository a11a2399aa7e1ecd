from hypothesis import given
from hypothesis import strategies as st

from loaders.formats.content import join_pages
from loaders.google_drive.google_drive_loader import numbered, without_pictures

SLIDES = st.lists(st.text(alphabet="ab# \n", max_size=12), max_size=6)


def test_slides_get_their_number_at_their_title():
    text, pages = join_pages(["# Goals\n\nGrow", "", "Only a picture's words"])
    told, starts = numbered(text, pages)
    assert told == "## Slide 1: Goals\n\nGrow\n\n## Slide 3\n\nOnly a picture's words"
    assert [(told[start:][:10], number) for start, number in starts] == [
        ("## Slide 1", 1),
        ("## Slide 3", 3),
    ]


@given(SLIDES)
def test_every_page_begins_with_its_own_number_and_loses_no_word(slides):
    text, pages = join_pages(slides)
    told, starts = numbered(text, pages)
    assert [number for _, number in starts] == [number for _, number in pages]
    for start, number in starts:
        assert told[start:].startswith(f"## Slide {number}")
    assert told.count("a") == text.count("a") + told.count("## Slide") * "Slide".count("a")
    assert told.count("b") == text.count("b")


def test_text_without_pages_stays_as_it_is():
    assert numbered("text", []) == ("text", [])


def test_pictures_leave_their_names_and_none_of_their_bytes():
    exported = (
        "# Plan\n\nSee ![the map][image1] and ![][image2].\n\n"
        "[image1]: <data:image/png;base64,iVBORw0KGgo=>\n\n"
        "[image2]: <data:image/png;base64,AAAA>\n"
    )
    assert without_pictures(exported).strip() == "# Plan\n\nSee the map and ."


@given(st.text())
def test_markdown_without_embedded_pictures_stays_as_it_is(text):
    markdown = text.replace("data:", "")
    assert without_pictures(markdown) == markdown


def test_links_by_reference_stay():
    markdown = "See [the guide][1].\n\n[1]: https://example.org\n"
    assert without_pictures(markdown) == markdown
