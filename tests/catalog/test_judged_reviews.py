import hashlib
import inspect

from catalog import words_en, words_ja, words_ko
from catalog.judged_reviews import LEXICON_VERSION, judge_of
from catalog.lexicon import Lexicon
from catalog.patterns import find_patterns
from domain import ASPECTS, Aspect, Review
from sample_catalogues.restaurant_reviews import restaurant_reviews

READ = {2: "6e99311283995fc7"}
"""By version, the digest of what is read of the sample's reviews and of each line of words."""
SEVEN = [Aspect(name) for name in ASPECTS]


def placed(*reviews):
    """A document of these reviews, and where each stands."""
    text, spans = "# Café", []
    for review in reviews:
        text += "\n\n"
        spans.append(Review(len(text), len(text) + len(review)))
        text += review
    return text, spans


def counts_of(*reviews, aspects=SEVEN):
    return judge_of(aspects)(*placed(*reviews)).aspects


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
    patterns = judge_of(turned)(text, spans).patterns
    assert [(one.aspect, one.count) for one in patterns] == [("price", 2), ("service", 2)]
    names = [aspect.name for aspect in turned]
    assert patterns == find_patterns(text, spans, Lexicon(turned), aspects=names, top=None)


def test_what_is_read_of_reviews_changes_with_the_version_that_has_places_imported_again():
    judge = judge_of(SEVEN)
    lines = [
        judge(*placed(line, line))
        for words in (words_en, words_ko, words_ja)
        for line in inspect.getsource(words).splitlines()
    ]
    read = [line for line in lines if line.aspects]
    reviews = judge(*placed(*(review.text for review in restaurant_reviews())))
    digest = hashlib.sha256(repr((read, reviews)).encode()).hexdigest()[:16]
    told = f"Raise LEXICON_VERSION and note its digest here: {digest}"
    assert {LEXICON_VERSION: digest} == READ, told
