import io
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from loaders.formats.pdf import page_png, read

SAMPLE = Path(__file__).parents[3] / "samples" / "documents" / "security-handbook.pdf"
DATA = SAMPLE.read_bytes()


def changed(quote, page=1):
    """The box of the picture that a quote changes; None if it changes nothing."""
    with_quote, plain = (
        Image.open(io.BytesIO(page_png(DATA, page, quotes))).convert("RGB")
        for quotes in ([quote], [])
    )
    return ImageChops.difference(with_quote, plain).getbbox()


@pytest.fixture(scope="module")
def first_page():
    content = read(DATA)
    starts = [start for start, _ in content.pages]
    return content.text[: starts[1] if len(starts) > 1 else None]


@pytest.fixture(scope="module")
def line(first_page):
    return max(first_page.split("\n"), key=len)


def test_a_quote_is_highlighted_where_it_is_on_the_page(first_page, line):
    left, top, right, bottom = changed(line)
    heading = first_page.split("\n")[0]
    heading_box = changed(heading)
    assert heading_box[3] <= top
    assert right - left > 3 * (bottom - top) / max(len(line) // 40, 1)


def test_white_space_and_markdown_do_not_matter(line):
    spaced = "## " + " \n ".join(line.split())
    assert changed(spaced) == changed(line)


def test_of_a_quote_that_continues_elsewhere_the_lines_on_the_page_are_highlighted(line):
    assert changed(f"{line}\nwords that are not on this page at all") == changed(line)


@pytest.mark.parametrize("quote", ["words that are not on this page at all", "", " - "])
def test_a_quote_that_is_not_on_the_page_changes_nothing(quote):
    assert changed(quote) is None


def test_text_stays_dark_in_the_highlight(line):
    box = changed(line)
    picture = Image.open(io.BytesIO(page_png(DATA, 1, [line]))).convert("RGB").crop(box)
    colors = {color for _, color in picture.getcolors(maxcolors=2**20)}
    assert (255, 224, 110) in colors
    assert min(sum(color) for color in colors) < 150
