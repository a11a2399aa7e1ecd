import pytest

from domain import PlacePart
from tests.pages.places import DESCRIPTION, place_hit
from ui.catalog.place_cards import reasons_html
from ui.shared.safe_html import escape
from ui.text import words


def reasons(part, **changes):
    hit = place_hit(1, "Lucia", **changes)
    html = reasons_html(type(hit)(hit.place, 1.0, (part,)), {"ambience": 0.9}, DESCRIPTION)
    return html.partition("<li>")[2].removesuffix("</li></ul>")


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((8, 1), words.REASON_PRAISE.many.format(aspect="Ambience", praise=8, n=9)),
        ((1, 0), words.REASON_PRAISE.one.format(aspect="Ambience")),
        ((1, 3), words.REASON_BLAME.many.format(aspect="Ambience", blame=3, n=4)),
        ((2, 2), words.REASON_DIVIDED.format(aspect="Ambience")),
        ((0, 0), words.REASON_UNKNOWN.format(aspect="Ambience")),
    ],
)
def test_an_important_aspect_is_explained_by_the_opinions_of_the_reviews(counts, sentence):
    assert reasons(PlacePart("aspects", 1.0, 1.0), aspects={"ambience": counts}) == escape(sentence)


def test_an_aspect_that_does_not_matter_is_not_mentioned():
    assert "Price" not in reasons(PlacePart("aspects", 1.0, 1.0), aspects={"price": (8, 1)})


@pytest.mark.parametrize(
    ("rating", "ratings", "sentence"),
    [
        (4.5, 32, words.REASON_RATING.many.format(rating="4.5", scale="5", n=32)),
        (4.5, 3, words.REASON_FEW_RATINGS.many.format(rating="4.5", scale="5", n=3)),
        (None, 0, words.REASON_UNRATED),
    ],
)
def test_a_rating_is_explained_by_its_number_of_ratings(rating, ratings, sentence):
    part = PlacePart("confidence", 0.8, 0.3)
    assert reasons(part, rating=rating, reviews=ratings) == escape(sentence)


@pytest.mark.parametrize(("value", "index"), [(0.9, 0), (0.5, 1), (0.1, 2)])
def test_the_similarity_of_the_text_is_explained_in_three_degrees(value, index):
    sentence = words.REASON_FIT["hybrid"][index]
    assert reasons(PlacePart("hybrid", value, 1.0)) == escape(sentence)
