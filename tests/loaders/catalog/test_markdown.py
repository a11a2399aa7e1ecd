"""The text of a place: whatever users write, reviews stay complete and separate."""

from hypothesis import example, given
from hypothesis import strategies as st

from loaders.catalog.catalog_data import ReviewText
from loaders.catalog.catalog_places import escaped, place_text
from loaders.formats.content import clean
from loaders.split import split

USER_LINES = (
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
LINES = st.lists(st.sampled_from(USER_LINES) | st.text(max_size=30), min_size=1, max_size=6).map(
    "\n".join
)
TEXTS = LINES.map(clean).map(str.strip).filter(bool)
REVIEWS = st.lists(
    st.builds(ReviewText, text=TEXTS, group=st.sampled_from(["", "local"])), max_size=6
)


@given(TEXTS, REVIEWS)
@example("```", [ReviewText("```\nopen"), ReviewText("# x"), ReviewText("x" * 2500)])
def test_passages_never_span_two_reviews(about, reviews):
    text, spans = place_text("Bar", [about], [("town", "Bath")], reviews, 5)
    assert [text[start:end] for start, end in spans] == [escaped(review.text) for review in reviews]
    passages = split(text, document_id="d", version="v", size=200, overlap=30)
    reviews_of_passages = [
        [n for n, (start, end) in enumerate(spans) if passage.start < end and start < passage.end]
        for passage in passages
    ]
    assert all(len(numbers) <= 1 for numbers in reviews_of_passages)
    assert {n for numbers in reviews_of_passages for n in numbers} == set(range(len(reviews)))
    for passage, numbers in zip(passages, reviews_of_passages, strict=True):
        assert all(passage.heading_path[:2] == ("Bar", "Reviews") for _ in numbers)


@given(TEXTS)
def test_escaping_adds_only_backslashes(text):
    assert escaped(text).replace("\\", "") == text.replace("\\", "")
    assert escaped(escaped(text)) == escaped(text)


def test_the_heading_of_a_review_contains_group_rating_and_date():
    reviews = [
        ReviewText("a", "local", 4.5, "2026-01-02"),
        ReviewText("b"),
        ReviewText("c", rating=0.0),
    ]
    text, _ = place_text("Bar", [], [], reviews, 10)
    headings = [line for line in text.splitlines() if line.startswith("### ")]
    assert headings == ["### local · 4.5/10 · 2026-01-02", "### Review", "### Review · 0/10"]


def test_a_place_without_data_is_its_title():
    assert place_text("Bar", [], [], [], 5) == ("# Bar", [])
