"""Three hundred fictional restaurants in New York, with their true qualities."""

import tomllib
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple
from unicodedata import normalize

from benchmarks.sample_catalogs.sentences import between, chance, choose
from benchmarks.sample_catalogs.words import sections
from domain.places import ASPECTS

BOROUGHS = {
    "Manhattan": 0.36,
    "Brooklyn": 0.28,
    "Queens": 0.22,
    "Bronx": 0.08,
    "Staten Island": 0.06,
}
"""The boroughs and their shares of the restaurants of a type, except the first five."""

_TYPES = tomllib.loads(
    Path(__file__).with_name("words").joinpath("restaurant_types.toml").read_text(encoding="utf-8")
)
_KOREAN_BARBECUES = {"Gogi Embers", "Charcoal Yard KBBQ", "Hwaro House", "Sotbul Lane"}


_WITH_ARTICLE = {"Bronx", "East Village", "West Village", "Upper West Side", "Upper East Side"}


class Restaurant(NamedTuple):
    """A row of `places.jsonl`; `price_level` is 1 to 4, and `rating` is 0 to 5.

    `rating_count` is the number of ratings, of which only a few have a review.
    """

    place_id: str
    name: str
    types: list[str]
    borough: str
    neighbourhood: str
    address: str
    phone: str
    price_level: int
    opening_hours: str
    rating: float
    rating_count: int
    lat: float
    lon: float
    description: str


class Dish(NamedTuple):
    """A dish with its name in each language; `kind` is "drink" or ""."""

    en: str
    ko: str
    kind: str = ""


@cache
def restaurants() -> tuple[Restaurant, ...]:
    """All restaurants, by type, then in the order of the list of names."""
    names = sections("restaurant_names")
    places = [
        _restaurant(name, type_, place)
        for first, type_ in enumerate(names)
        for place, name in enumerate(names[type_], first)
    ]
    return tuple(place._replace(phone=_phone(place, places)) for place in places)


@cache
def qualities() -> dict[str, dict[str, float]]:
    """The true quality of each restaurant by id and aspect, from 0 to 1 (best).

    Reviews are generated from these qualities, which are not part of the catalog's data. For price,
    1 means good value; for waiting, 1 means no wait; accessibility covers the way there and the
    entrance.
    """
    return {
        place.place_id: _qualities(place.place_id, place.price_level) for place in restaurants()
    }


def dishes(restaurant: Restaurant) -> list[Dish]:
    """The dishes of the restaurant; the first two are its specialties."""
    lines = sections("restaurant_dishes")[restaurant.types[0]]
    menu = [Dish(*line.split(" | ")) for line in lines]
    return chance("dishes", restaurant.place_id).sample(menu, len(menu))


def with_article(part: str) -> str:
    """The name of a part of the city as used within a sentence, such as the Bronx."""
    return f"the {part}" if part in _WITH_ARTICLE else part


def id_of(name: str) -> str:
    """An id of lowercase letters, digits, and hyphens."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower().replace("'", "")
    return "-".join("".join(letter if letter.isalnum() else " " for letter in plain).split())


def _restaurant(name: str, type_: str, place: int) -> Restaurant:
    place_id, random = id_of(name), chance("restaurant", name)
    borough = _borough(place, len(sections("restaurant_names")[type_]), random)
    neighbourhood, latitude, longitude = random.choice(sections("new_york")[borough]).split(" | ")
    level = round(
        between(
            random.gauss(_TYPES["price_levels"].get(type_, _TYPES["usual_price_level"]), 0.7), 1, 4
        )
    )
    street = random.choice(sections("new_york")["streets"])
    restaurant = Restaurant(
        place_id,
        name,
        _types(name, type_, random),
        borough,
        neighbourhood,
        f"{random.randint(3, 489)} {street}, {neighbourhood}, {borough}, NY",
        "",
        level,
        random.choice(_TYPES["hours"].get(type_, _TYPES["usual_hours"])),
        _rating(place_id, level),
        round(between(chance("rating count", place_id).lognormvariate(4.6, 0.9), 25, 1500)),
        round(float(latitude) + random.uniform(-0.003, 0.003), 5),
        round(float(longitude) + random.uniform(-0.003, 0.003), 5),
        "",
    )
    return restaurant._replace(description=_description(restaurant, random))


def _borough(place: int, of_type: int, random: Random) -> str:
    """Each borough gets one of the first five of a type; the others follow the shares."""
    if place % of_type < len(BOROUGHS):
        return list(BOROUGHS)[place % of_type]
    return choose(random, BOROUGHS)


def _phone(restaurant: Restaurant, others: list[Restaurant]) -> str:
    """A number from 555-0100 to 555-0199, the range reserved for fiction."""
    neighbors = [place.name for place in others if place.borough == restaurant.borough]
    number = neighbors.index(restaurant.name) * 37 % 100
    return f"{_TYPES['area_codes'][restaurant.borough]}-555-01{number:02}"


def _types(name: str, type_: str, random: Random) -> list[str]:
    further = _TYPES["further_types"].get(type_, {})
    if name in _KOREAN_BARBECUES:
        further = {"korean_restaurant": 1.0, "barbecue_restaurant": 1.0}
    elif type_ == "barbecue_restaurant":
        further = {"american_restaurant": 0.8}
    types = [type_, *(other for other, share in further.items() if random.random() < share)]
    return list(dict.fromkeys(types))[:3]


def _qualities(place_id: str, price_level: int) -> dict[str, float]:
    random = chance("qualities", place_id)
    overall = random.gauss(0.6, 0.13)
    # More expensive places tend to have a nicer ambience and offer worse value.
    shift = {"price": -0.14 * (price_level - 2), "ambience": 0.07 * (price_level - 2)}
    return {
        aspect: round(between(random.gauss(overall + shift.get(aspect, 0), 0.26), 0.02, 0.98), 2)
        for aspect in ASPECTS
    }


def _rating(place_id: str, price_level: int) -> float:
    """The mean of all ratings from 1 to 5, including those without a review."""
    noise = chance("rating", place_id).gauss(0, 0.15)
    return round(
        between(1.3 + 3.9 * overall_quality(_qualities(place_id, price_level)) + noise, 1, 5), 1
    )


def overall_quality(aspects: dict[str, float]) -> float:
    """The overall quality, 0 to 1; the food counts as much as three other aspects."""
    return (sum(aspects.values()) + 2 * aspects["food"]) / (len(aspects) + 2)


def _description(restaurant: Restaurant, random: Random) -> str:
    words = sections("restaurant_descriptions")
    dish, dish2 = (dish.en for dish in dishes(restaurant)[:2])
    parts = [random.choice(words[restaurant.types[0]]), random.choice(words["speciality"])]
    if random.random() < 0.7:
        parts.append(random.choice(_features(restaurant)))
    return " ".join(parts).format(
        neighbourhood=with_article(restaurant.neighbourhood),
        seats=random.randint(9, 46) * 2,
        dish=dish,
        dish2=dish2,
    )


def _features(restaurant: Restaurant) -> list[str]:
    """Phrases for the description that reflect the best or worst aspect."""
    words = sections("restaurant_descriptions")
    aspects = _qualities(restaurant.place_id, restaurant.price_level)
    best, worst = max(aspects, key=aspects.__getitem__), min(aspects, key=aspects.__getitem__)
    phrases = words.get(f"{best} good", []) + words.get(f"{worst} bad", [])
    return phrases or words["feature"]
