import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops
from reportlab.pdfgen.canvas import Canvas

from loaders.formats.pdf import page_png, read
from loaders.formats.pdf_highlight import quote_positions
from tests.linear_time import require_linear_time

SAMPLE = Path(__file__).parents[3] / "samples" / "documents" / "security-handbook.pdf"
DATA = SAMPLE.read_bytes()


def changed(quote, page=1, data=DATA):
    """The box of the picture that a quote changes; None if it changes nothing."""
    with_quote, plain = (
        Image.open(io.BytesIO(page_png(data, page, quotes))).convert("RGB")
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


def test_a_quote_within_a_longer_number_on_a_page_is_not_highlighted():
    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.drawString(72, 700, "It takes 110 days.")
    canvas.drawString(72, 600, "It takes 10 days.")
    canvas.save()
    words, line = (changed(quote, data=out.getvalue()) for quote in ("10 days", "It takes 10 days"))
    assert words[1:] == line[1:]  # the same line and the same end


def found(quote, page):
    """What is found of a quote, and where it starts."""
    positions = quote_positions([quote], page)
    return "".join(page[at] for at in dict.fromkeys(positions)), positions[0] if positions else -1


@pytest.mark.parametrize(
    ("quote", "page", "start"),
    [
        ("10 days", "110 days, then 10 days", 15),
        ("10 days", "110 days", -1),
        ("5 days", "10.5 days", -1),
        ("000 won", "1,000 won", -1),
        ("1", "1,000 won", -1),
        ("lead", "Your leader", -1),
        ("lead", "mislead", -1),
        ("4 paper", "A4 paper", -1),
        ("10 days", "in 2019: 10\r\ndays", 9),
        ("days.", "10 days.", 3),
        ("10日", "年次休暇10日を付与", 4),
        ("10日", "年次休暇110日を付与", -1),
        ("休暇", "年次休暇10日", 2),
        ("연차 10일", "신규 입사자는 연차10일을 받습니다", 8),
        ("ลา 10", "วันลา 10 วัน", 3),
        ("sume", "re\u0301sume\u0301", -1),
    ],
)
def test_a_quote_begins_and_ends_with_a_whole_word_or_number(quote, page, start):
    assert found(quote, page)[1] == start


SPACED = ["1", "10", "110", "1,000", "10.5", "day", "days", "holidays", "A4", "Straße", "дней"]
UNSPACED = ["日", "休暇", "휴가", "ガイド", "วัน"]
PIECES = st.lists(
    st.tuples(st.sampled_from([*SPACED, *UNSPACED]), st.sampled_from(["", " ", "\r\n", " - "])),
    min_size=1,
    max_size=12,
)


def page_of(pieces):
    """A page with the pieces, and where each starts; words have at least a space between them."""
    page, starts = "", []
    for (piece, gap), (after, _) in zip(pieces, [*pieces[1:], ("", "")], strict=True):
        starts.append(len(page))
        page += piece + (gap or " " * (piece in SPACED and after in SPACED))
    return page, starts


@given(PIECES, st.data())
def test_whole_words_of_the_page_are_found(pieces, data):
    page, _ = page_of(pieces)
    first = data.draw(st.integers(0, len(pieces) - 1))
    last = data.draw(st.integers(first, len(pieces) - 1))
    quote = " ".join(piece for piece, _ in pieces[first : last + 1])
    text = "".join(filter(str.isalnum, found(quote, page)[0]))
    assert text == "".join(filter(str.isalnum, quote))


@pytest.mark.parametrize("letter", ["0", "a"])
def test_a_long_quote_within_a_longer_word_is_searched_in_linear_time(letter):
    require_linear_time(lambda size: found(letter * (size // 5), letter * size), 100_000)


@given(PIECES, PIECES)
def test_whatever_is_found_is_not_cut_out_of_words_or_numbers(pieces, quoted):
    page, starts = page_of(pieces)
    inner = {
        at
        for (piece, _), start in zip(pieces, starts, strict=True)
        for at in range(start + 1, start + len(piece))
        if piece in SPACED
    }
    positions = quote_positions([page_of(quoted)[0]], page)
    if positions:
        assert positions[0] not in inner
        assert positions[-1] + 1 not in inner
