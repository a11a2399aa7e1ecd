import hashlib

from benchmarks.sample_catalogs.restaurant_reviews import restaurant_reviews
from domain import ASPECTS, Aspect, Review
from services.catalog.lexicon import Lexicon, entries
from services.catalog.review_patterns import LEXICON_VERSION, PatternJudge, find_patterns
from services.catalog.word_finder import word_list

DIGESTS = {2: "ca79c6869db16a25"}
"""Maps the version to a digest of the judgments on the sample's reviews and on each listed word."""
DEFAULT_ASPECTS = [Aspect(name) for name in ASPECTS]


def document_of(*reviews):
    """A document of these reviews, and the span of each."""
    text, spans = "# Café", []
    for review in reviews:
        text += "\n\n"
        spans.append(Review(len(text), len(text) + len(review)))
        text += review
    return text, spans


def list_entries(words):
    """The entries of a word list, in its order."""
    for value in words.values():
        yield from list_entries(value) if isinstance(value, dict) else entries(value)


def count_judgments(*reviews, aspects=DEFAULT_ASPECTS):
    return PatternJudge(aspects).judge(*document_of(*reviews)).aspects


def test_reviews_are_counted_by_aspect_and_judgment():
    counts = count_judgments(
        "Friendly staff.", "The staff was rude. Delicious pasta.", "분위기가 정말 좋아요."
    )
    assert counts == {"food": (1, 0), "service": (1, 1), "ambience": (1, 0)}


def test_a_review_counts_once_as_praise_and_once_as_criticism():
    counts = count_judgments("Friendly staff. Friendly waiters! But the staff was rude once.")
    assert counts == {"service": (1, 1)}


def test_repeated_reviews_are_counted_separately():
    assert count_judgments("Friendly staff.", "Friendly staff.") == {"service": (2, 0)}


def test_neutral_mentions_are_not_counted():
    assert count_judgments("We talked about the service.", "", "Nice.") == {}
    assert count_judgments() == {}


def test_custom_words_of_an_aspect_count_and_other_aspects_are_ignored():
    battery = Aspect("battery", about={"en": ("battery",)}, bad={"en": ("drains",)})
    counts = count_judgments("The battery drains.", "Friendly staff.", aspects=[battery])
    assert counts == {"battery": (0, 1)}


def test_patterns_are_found_in_the_order_of_the_aspects():
    reviews = ["Friendly staff.", "Cheap, and friendly staff.", "It is cheap.", "Nice."]
    text, spans = document_of(*reviews)
    reversed_aspects = DEFAULT_ASPECTS[::-1]
    patterns = PatternJudge(reversed_aspects).judge(text, spans).patterns
    assert [(pattern.aspect, pattern.count) for pattern in patterns] == [
        ("price", 2),
        ("service", 2),
    ]
    names = [aspect.name for aspect in reversed_aspects]
    assert patterns == find_patterns(
        text, spans, Lexicon(reversed_aspects).mentions, aspects=names, top=None
    )


def test_changed_judgments_need_a_new_lexicon_version():
    judge = PatternJudge(DEFAULT_ASPECTS).judge
    words = [word for language in ("en", "ko", "ja") for word in list_entries(word_list(language))]
    judgments = [
        judgment for word in words if (judgment := judge(*document_of(word, word))).aspects
    ]
    reviews = judge(*document_of(*(review.text for review in restaurant_reviews())))
    digest = hashlib.sha256(repr((judgments, reviews)).encode()).hexdigest()[:16]
    hint = f"Raise LEXICON_VERSION and note its digest here: {digest}"
    assert {LEXICON_VERSION: digest} == DIGESTS, hint
