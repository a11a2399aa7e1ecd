"""Three thousand reviews of the restaurants: each says what its place is like in truth."""

from datetime import date, timedelta
from functools import cache
from math import exp
from random import Random
from typing import NamedTuple

from domain.catalogue import ASPECTS
from sample_catalogues.chance import between, chance, drawn
from sample_catalogues.korean import korean
from sample_catalogues.restaurants import (
    Restaurant,
    called,
    dishes,
    overall_quality,
    qualities,
    restaurants,
)
from sample_catalogues.sentences import Clause, english, filled
from sample_catalogues.words import sections

REVIEWS = 3000
FEWEST, MOST = 3, 25
_FIRST_DAY = date(2024, 1, 8)
_DAYS = 900
_NO_MEALS = {"cafe", "bakery", "bar", "dessert_shop", "sushi_restaurant"}

_OFTEN = {
    "local": {"price": 1.2, "ambience": 1.3, "waiting": 1.1},
    "korean": {"service": 1.3, "hygiene": 1.3, "price": 1.1},
}
"""What a group speaks of more often than of the rest."""


class RestaurantReview(NamedTuple):
    """A review as `reviews.jsonl` has it. `rating` is 1 to 5."""

    review_id: str
    place_id: str
    group: str
    rating: int
    date: str
    text: str


@cache
def restaurant_reviews() -> tuple[RestaurantReview, ...]:
    """All reviews, place by place, the oldest of each first."""
    found = [
        review
        for restaurant, count in zip(restaurants(), review_counts(), strict=True)
        for review in _reviews(restaurant, count)
    ]
    return tuple(
        review._replace(review_id=f"review-{number:04}") for number, review in enumerate(found, 1)
    )


def review_counts() -> list[int]:
    """How many reviews each restaurant has: together `REVIEWS`, most have fewer than average."""
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
    # A few write in the other language, so that a group is not a language.
    language = "ko" if (group == "korean") != (random.random() < 0.06) else "en"
    said = _opinions(random, restaurant, group)
    rating = _rating(random, restaurant, said)
    # What a review is about comes first: the praise of a good rating, the blame of a bad one.
    ordered = sorted(said, key=lambda aspect: said[aspect] != (rating >= 3))
    clauses = [
        Clause(_clause(random, restaurant, language, aspect, said[aspect], used), said[aspect])
        for aspect in ordered
    ]
    text = _text(random, restaurant, language, clauses, rating)
    return RestaurantReview("", restaurant.place_id, group, rating, day.isoformat(), text)


def _opinions(random: Random, restaurant: Restaurant, group: str) -> dict[str, bool]:
    """What a reviewer speaks of, and whether in praise.

    People speak of the food, and else of what is remarkably good or bad.
    """
    truth = qualities()[restaurant.place_id]
    often = {
        aspect: _OFTEN[group].get(aspect, 1.0) * (0.15 + 2.4 * abs(truth[aspect] - 0.5)) ** 1.3
        for aspect in ASPECTS
    }
    often["food"] += 0.8
    said: dict[str, bool] = {}
    for _ in range(drawn(random, {1: 0.2, 2: 0.45, 3: 0.35})):
        aspect = drawn(random, {key: share for key, share in often.items() if key not in said})
        said[aspect] = random.random() < 1 / (1 + exp(-11 * (truth[aspect] - 0.5)))
    return said


def _rating(random: Random, restaurant: Restaurant, said: dict[str, bool]) -> int:
    """Stars that agree with what is said and, less so, with how good the place is."""
    overall = overall_quality(qualities()[restaurant.place_id])
    praise = sum(said.values()) / len(said)
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
    """Words for an opinion that no earlier review of the place has used, while there are any."""
    words = sections(f"restaurant_reviews_{language}")
    feeling = "good" if praises else "bad"
    phrases = list(words[f"{aspect} {feeling}"])
    named = _named(random, restaurant, language)
    if aspect == "food":
        phrases += words[f"meal {feeling}"] if restaurant.types[0] not in _NO_MEALS else []
        phrases += words[f"drink {feeling}"] * 2 if "drink" in named else []
    phrase = random.choice([phrase for phrase in phrases if phrase not in used] or phrases)
    used.add(phrase)
    return filled(random, phrase, named)


def _named(random: Random, restaurant: Restaurant, language: str) -> dict[str, str]:
    """What phrases may name: the dishes, often the specialities, and where the place is."""
    menu = dishes(restaurant)
    eaten = [getattr(dish, language) for dish in menu if not dish.kind]
    drunk = [getattr(dish, language) for dish in menu if dish.kind]
    first = eaten[drawn(random, {0: 0.5, 1: 0.3, 2: 0.2} if len(eaten) > 2 else {0: 1.0})]
    second = random.choice([dish for dish in eaten if dish != first])
    named = {"dish": first, "dish2": second}
    named |= {"borough": called(restaurant.borough)}
    named |= {"neighbourhood": called(restaurant.neighbourhood)}
    return named | ({"drink": random.choice(drunk[:3])} if drunk else {})


def _text(
    random: Random, restaurant: Restaurant, language: str, clauses: list[Clause], rating: int
) -> str:
    source = f"restaurant_reviews_{language}"
    praised = rating >= 4 and clauses[-1].praises
    feeling = "bad" if rating < 3 else "good" if praised else "mixed"
    start, end = (
        filled(random, random.choice(sections(source)[name]), _named(random, restaurant, language))
        if random.random() < share
        else ""
        for name, share in (("start", 0.3), (f"end {feeling}", 0.35))
    )
    written = korean if language == "ko" else english
    return written(random, start, clauses, end, source)
