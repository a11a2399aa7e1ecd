from catalog.judged_reviews import judge_of
from domain import ASPECTS, Aspect

SEVEN = [Aspect(name) for name in ASPECTS]


def test_reviews_count_by_what_they_praise_and_blame():
    counts = judge_of(SEVEN)(
        ["Friendly staff.", "The staff was rude. Delicious pasta.", "분위기가 정말 좋아요."]
    )
    assert counts == {"food": (1, 0), "service": (1, 1), "ambience": (1, 0)}


def test_a_review_counts_once_for_praise_and_once_for_blame():
    counts = judge_of(SEVEN)(["Friendly staff. Friendly waiters! But the staff was rude once."])
    assert counts == {"service": (1, 1)}


def test_what_is_only_spoken_of_is_not_counted():
    assert judge_of(SEVEN)(["We talked about the service.", "", "Nice."]) == {}
    assert judge_of(SEVEN)([]) == {}


def test_an_aspect_s_own_words_count_and_aspects_that_are_not_asked_for_do_not():
    battery = Aspect("battery", about={"en": ("battery",)}, bad={"en": ("drains",)})
    counts = judge_of([battery])(["The battery drains.", "Friendly staff."])
    assert counts == {"battery": (0, 1)}
