"""Three thousand reviews of the restaurants, generated from their true qualities."""

from datetime import date, timedelta
from functools import cache
from math import exp
from random import Random
from typing import NamedTuple

from benchmarks.sample_catalogs.restaurants import (
    Restaurant,
    dishes,
    overall_quality,
    qualities,
    restaurants,
    with_article,
)
from benchmarks.sample_catalogs.sentences import (
    Clause,
    between,
    chance,
    choose,
    english,
    fill,
    korean,
)
from benchmarks.sample_catalogs.words import sections
from domain.places import ASPECTS

REVIEWS = 3000
FEWEST, MOST = 3, 25
_FIRST_DAY = date(2024, 1, 8)
_DAYS = 900
_NO_MEALS = {"cafe", "bakery", "bar", "dessert_shop", "sushi_restaurant"}

_OFTEN = {
    "local": {"price": 1.2, "ambience": 1.3, "waiting": 1.1},
    "korean": {"service": 1.3, "hygiene": 1.3, "price": 1.1},
}
"""The aspects that a group mentions more often, as factors."""


class RestaurantReview(NamedTuple):
    """A row of `reviews.jsonl`; `rating` is 1 to 5."""

    review_id: str
    place_id: str
    group: str
    rating: int
    date: str
    text: str


@cache
def restaurant_reviews() -> tuple[RestaurantReview, ...]:
    """All reviews by place, oldest first."""
    reviews = [
        review
        for restaurant, count in zip(restaurants(), review_counts(), strict=True)
        for review in _reviews(restaurant, count)
    ]
    return tuple(
        review._replace(review_id=f"review-{number:04}") for number, review in enumerate(reviews, 1)
    )


def review_counts() -> list[int]:
    """The number of reviews of each restaurant; the total is `REVIEWS`."""
    random = chance("review counts")
    counts = [round(between(random.gammavariate(3, 3.3), FEWEST, MOST)) for _ in restaurants()]
    while (missing := REVIEWS - sum(counts)) != 0:
        place, step = random.randrange(len(counts)), 1 if missing > 0 else -1
        if FEWEST <= counts[place] + step <= MOST:
            counts[place] += step
    return counts


def _reviews(restaurant: Restaurant, count: int) -> list[RestaurantReview]:
    random = chance("reviews", restaurant.place_id)
    days = sorted(random.randrange(_DAYS) for _ in range(count))
    used: set[str] = set()
    return [
        _review(random, restaurant, _FIRST_DAY + timedelta(days=day), used) for day in days
    ]  # fmt: skip


def _review(random: Random, restaurant: Restaurant, day: date, used: set[str]) -> RestaurantReview:
    group = random.choice(("local", "korean"))
    # A few reviewers write in the other language, so that group and language are not the same.
    language = "ko" if (group == "korean") != (random.random() < 0.06) else "en"
    opinions = _opinions(random, restaurant, group)
    rating = _rating(random, restaurant, opinions)
    # The main point comes first: praise with a good rating, criticism with a bad one.
    ordered = sorted(opinions, key=lambda aspect: opinions[aspect] != (rating >= 3))
    clauses = [
        Clause(
            _clause(random, restaurant, language, aspect, opinions[aspect], used), opinions[aspect]
        )
        for aspect in ordered
    ]
    text = _text(random, restaurant, language, clauses, rating)
    return RestaurantReview("", restaurant.place_id, group, rating, day.isoformat(), text)


def _opinions(random: Random, restaurant: Restaurant, group: str) -> dict[str, bool]:
    """The aspects that a reviewer praises (True) or criticizes.

    These are the food, and aspects that are remarkably good or bad.
    """
    truth = qualities()[restaurant.place_id]
    often = {
        aspect: _OFTEN[group].get(aspect, 1.0) * (0.15 + 2.4 * abs(truth[aspect] - 0.5)) ** 1.3
        for aspect in ASPECTS
    }
    often["food"] += 0.8
    opinions: dict[str, bool] = {}
    for _ in range(choose(random, {1: 0.2, 2: 0.45, 3: 0.35})):
        aspect = choose(random, {key: share for key, share in often.items() if key not in opinions})
        opinions[aspect] = random.random() < 1 / (1 + exp(-11 * (truth[aspect] - 0.5)))
    return opinions


def _rating(random: Random, restaurant: Restaurant, opinions: dict[str, bool]) -> int:
    """Stars that match the opinions and, to a lesser degree, the overall quality."""
    overall = overall_quality(qualities()[restaurant.place_id])
    praise = sum(opinions.values()) / len(opinions)
    stars = round(0.95 + 2.2 * praise + 2.0 * overall + random.gauss(0, 0.35))
    lowest, highest = (4, 5) if praise == 1 else (1, 2) if praise == 0 else (2, 4)
    return int(between(stars, lowest, highest))


def _clause(
    random: Random,
    restaurant: Restaurant,
    language: str,
    aspect: str,
    praises: bool,
    used: set[str],
) -> str:
    """A phrase for the opinion; not used by an earlier review of the place, if possible."""
    words = sections(f"restaurant_reviews_{language}")
    feeling = "good" if praises else "bad"
    phrases = list(words[f"{aspect} {feeling}"])
    values = _placeholders(random, restaurant, language)
    if aspect == "food":
        phrases += words[f"meal {feeling}"] if restaurant.types[0] not in _NO_MEALS else []
        phrases += words[f"drink {feeling}"] * 2 if "drink" in values else []
    phrase = random.choice([phrase for phrase in phrases if phrase not in used] or phrases)
    used.add(phrase)
    return fill(random, phrase, values)


def _placeholders(random: Random, restaurant: Restaurant, language: str) -> dict[str, str]:
    """The values of placeholders: dishes (often the specialties) and the location."""
    menu = dishes(restaurant)
    eaten = [getattr(dish, language) for dish in menu if not dish.kind]
    drunk = [getattr(dish, language) for dish in menu if dish.kind]
    first = eaten[choose(random, {0: 0.5, 1: 0.3, 2: 0.2} if len(eaten) > 2 else {0: 1.0})]
    second = random.choice([dish for dish in eaten if dish != first])
    values = {"dish": first, "dish2": second}
    values |= {"borough": with_article(restaurant.borough)}
    values |= {"neighbourhood": with_article(restaurant.neighbourhood)}
    return values | ({"drink": random.choice(drunk[:3])} if drunk else {})


def _text(
    random: Random, restaurant: Restaurant, language: str, clauses: list[Clause], rating: int
) -> str:
    source = f"restaurant_reviews_{language}"
    praised = rating >= 4 and clauses[-1].praises
    feeling = "bad" if rating < 3 else "good" if praised else "mixed"
    start, end = (
        fill(
            random,
            random.choice(sections(source)[name]),
            _placeholders(random, restaurant, language),
        )
        if random.random() < share
        else ""
        for name, share in (("start", 0.3), (f"end {feeling}", 0.35))
    )
    review = korean if language == "ko" else english
    return review(random, start, clauses, end, source)
