import hashlib

from domain import ASPECTS, Aspect, Review
from samples.catalogs.restaurant_reviews import restaurant_reviews
from services.catalog.lexicon import Lexicon, entries
from services.catalog.review_patterns import LEXICON_VERSION, PatternJudge, find_patterns
from services.catalog.word_finder import word_list

READ = {2: "ca79c6869db16a25"}
"""By version, the digest of what is read of the sample's reviews and of each listed word."""
SEVEN = [Aspect(name) for name in ASPECTS]


def placed(*reviews):
    """A document of these reviews, and where each stands."""
    text, spans = "# Café", []
    for review in reviews:
        text += "\n\n"
        spans.append(Review(len(text), len(text) + len(review)))
        text += review
    return text, spans


def listed(words):
    """The entries of a list of words, in its order."""
    for value in words.values():
        yield from listed(value) if isinstance(value, dict) else entries(value)


def counts_of(*reviews, aspects=SEVEN):
    return PatternJudge(aspects).judge(*placed(*reviews)).aspects


def test_reviews_count_by_what_they_praise_and_blame():
    counts = counts_of(
        "Friendly staff.", "The staff was rude. Delicious pasta.", "분위기가 정말 좋아요."
    )
    assert counts == {"food": (1, 0), "service": (1, 1), "ambience": (1, 0)}


def test_a_review_counts_once_for_praise_and_once_for_blame():
    counts = counts_of("Friendly staff. Friendly waiters! But the staff was rude once.")
    assert counts == {"service": (1, 1)}


def test_a_review_counts_as_often_as_it_was_written():
    assert counts_of("Friendly staff.", "Friendly staff.") == {"service": (2, 0)}


def test_what_is_only_spoken_of_is_not_counted():
    assert counts_of("We talked about the service.", "", "Nice.") == {}
    assert counts_of() == {}


def test_an_aspect_s_own_words_count_and_aspects_that_are_not_asked_for_do_not():
    battery = Aspect("battery", about={"en": ("battery",)}, bad={"en": ("drains",)})
    counts = counts_of("The battery drains.", "Friendly staff.", aspects=[battery])
    assert counts == {"battery": (0, 1)}


def test_what_reviews_say_again_is_found_with_them_in_the_order_of_the_aspects():
    reviews = ["Friendly staff.", "Cheap, and friendly staff.", "It is cheap.", "Nice."]
    text, spans = placed(*reviews)
    turned = SEVEN[::-1]
    patterns = PatternJudge(turned).judge(text, spans).patterns
    assert [(one.aspect, one.count) for one in patterns] == [("price", 2), ("service", 2)]
    names = [aspect.name for aspect in turned]
    assert patterns == find_patterns(text, spans, Lexicon(turned).mentions, aspects=names, top=None)


def test_what_is_read_of_reviews_changes_with_the_version_that_has_places_imported_again():
    judge = PatternJudge(SEVEN).judge
    words = [word for language in ("en", "ko", "ja") for word in listed(word_list(language))]
    read = [judged for word in words if (judged := judge(*placed(word, word))).aspects]
    reviews = judge(*placed(*(review.text for review in restaurant_reviews())))
    digest = hashlib.sha256(repr((read, reviews)).encode()).hexdigest()[:16]
    told = f"Raise LEXICON_VERSION and note its digest here: {digest}"
    assert {LEXICON_VERSION: digest} == READ, told
