"""The text of a place: whatever people write, each review stays whole and for itself."""

from hypothesis import example, given
from hypothesis import strategies as st

from loaders.catalog.catalog_data import ReviewText
from loaders.catalog.place_document import escaped, place_text
from loaders.formats.content import clean
from loaders.split import split

WRITTEN = (
    *(
        "# A",
        "## Reviews",
        "### x · 5/5",
        "   ###### x",
        "```",
        "  ```python",
        "~~~",
        "\t```",
        "===",
    ),
    *(
        "---",
        "- item",
        "> # quoted",
        "좋아요. 또 올게요.",
        "Good. Bad.",
        "",
        "    code",
        "#tag",
        "1. x",
    ),
)
LINES = st.lists(st.sampled_from(WRITTEN) | st.text(max_size=30), min_size=1, max_size=6).map(
    "\n".join
)
SHOWN = LINES.map(clean).map(str.strip).filter(bool)
REVIEWS = st.lists(
    st.builds(ReviewText, text=SHOWN, group=st.sampled_from(["", "local"])), max_size=6
)


@given(SHOWN, REVIEWS)
@example("```", [ReviewText("```\nopen"), ReviewText("# x"), ReviewText("x" * 2500)])
def test_each_review_has_passages_of_its_own_that_cross_into_no_other(about, reviews):
    text, spans = place_text("Bar", [about], [("town", "Bath")], reviews, 5)
    assert [text[start:end] for start, end in spans] == [escaped(one.text) for one in reviews]
    passages = split(text, document_id="d", version="v", size=200, overlap=30)
    own = [
        [n for n, (start, end) in enumerate(spans) if one.start < end and start < one.end]
        for one in passages
    ]
    assert all(len(found) <= 1 for found in own)
    assert {n for found in own for n in found} == set(range(len(reviews)))
    for one, found in zip(passages, own, strict=True):
        assert all(one.heading_path[:2] == ("Bar", "Reviews") for _ in found)


@given(SHOWN)
def test_a_text_loses_nothing_but_its_structure(text):
    assert escaped(text).replace("\\", "") == text.replace("\\", "")
    assert escaped(escaped(text)) == escaped(text)


def test_a_heading_says_what_there_is_of_a_review():
    reviews = [
        ReviewText("a", "local", 4.5, "2026-01-02"),
        ReviewText("b"),
        ReviewText("c", rating=0.0),
    ]
    text, _ = place_text("Bar", [], [], reviews, 10)
    headings = [line for line in text.splitlines() if line.startswith("### ")]
    assert headings == ["### local · 4.5/10 · 2026-01-02", "### Review", "### Review · 0/10"]


def test_a_place_of_which_nothing_is_known_is_its_title():
    assert place_text("Bar", [], [], [], 5) == ("# Bar", [])
