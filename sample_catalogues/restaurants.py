"""Three hundred restaurants of New York that do not exist, and how good each is in truth."""

from functools import cache
from random import Random
from typing import NamedTuple
from unicodedata import normalize

from domain.catalogue import ASPECTS
from sample_catalogues.chance import between, chance, drawn
from sample_catalogues.words import sections

BOROUGHS = {
    "Manhattan": 0.36,
    "Brooklyn": 0.28,
    "Queens": 0.22,
    "Bronx": 0.08,
    "Staten Island": 0.06,
}
"""The boroughs, and how likely a restaurant lies there once each has one of its type."""

_AREA_CODES = {
    "Manhattan": "212", "Brooklyn": "718", "Queens": "347", "Bronx": "929", "Staten Island": "917"
}  # fmt: skip

_FURTHER_TYPES = {
    "sushi_restaurant": {"japanese_restaurant": 0.8},
    "ramen_restaurant": {"japanese_restaurant": 0.7},
    "japanese_restaurant": {"sushi_restaurant": 0.25, "bar": 0.2},
    "italian_restaurant": {"pizza_restaurant": 0.25, "bar": 0.15},
    "pizza_restaurant": {"italian_restaurant": 0.5},
    "steak_house": {"american_restaurant": 0.5, "bar": 0.2},
    "hamburger_restaurant": {"american_restaurant": 0.5},
    "breakfast_restaurant": {"american_restaurant": 0.4, "cafe": 0.4},
    "bakery": {"cafe": 0.5, "dessert_shop": 0.2},
    "dessert_shop": {"cafe": 0.5, "bakery": 0.2},
    "cafe": {"bakery": 0.2, "dessert_shop": 0.2, "breakfast_restaurant": 0.2},
    "seafood_restaurant": {"bar": 0.2, "american_restaurant": 0.2},
    "american_restaurant": {"bar": 0.3, "breakfast_restaurant": 0.2},
    "greek_restaurant": {"seafood_restaurant": 0.4},
    "french_restaurant": {"bar": 0.15, "cafe": 0.15},
}
_KOREAN_BARBECUES = {"Gogi Embers", "Charcoal Yard KBBQ", "Hwaro House", "Sotbul Lane"}

_PRICE_LEVELS = {
    "steak_house": 3.4,
    "sushi_restaurant": 3.1,
    "french_restaurant": 3.0,
    "seafood_restaurant": 2.8,
    "ramen_restaurant": 1.8,
    "mexican_restaurant": 1.7,
    "pizza_restaurant": 1.6,
    "vietnamese_restaurant": 1.6,
    "breakfast_restaurant": 1.6,
    "hamburger_restaurant": 1.5,
    "dessert_shop": 1.5,
    "cafe": 1.3,
    "bakery": 1.2,
}
_USUAL_PRICE_LEVEL = 2.2

_HOURS = {
    "cafe": ("Daily 7:00-18:00", "Mon-Fri 7:00-17:00, Sat-Sun 8:00-18:00"),
    "bakery": ("Daily 7:00-17:00", "Tue-Sun 7:00-15:00"),
    "breakfast_restaurant": ("Daily 6:00-15:00", "Wed-Mon 7:00-15:30"),
    "bar": ("Daily 17:00-2:00", "Tue-Sun 16:00-1:00"),
    "dessert_shop": ("Daily 12:00-22:00", "Tue-Sun 11:00-21:00"),
}
_USUAL_HOURS = (
    "Daily 11:30-22:00",
    "Tue-Sun 12:00-22:30",
    "Mon-Sat 17:00-23:00",
    "Daily 12:00-15:00, 17:00-22:00",
    "Wed-Mon 11:00-21:30",
)


_WITH_ARTICLE = {"Bronx", "East Village", "West Village", "Upper West Side", "Upper East Side"}


class Restaurant(NamedTuple):
    """A restaurant as `places.jsonl` has it. `price_level` is 1 to 4, `rating` 0 to 5.

    `rating_count` are those who rated it; a few of them wrote a review.
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
    """Something to order, by its name in each language; `kind` is "drink" or ""."""

    en: str
    ko: str
    kind: str = ""


@cache
def restaurants() -> tuple[Restaurant, ...]:
    """All restaurants, by type and in the order of their names' list."""
    names = sections("restaurant_names")
    found = [
        _restaurant(name, type_, place)
        for first, type_ in enumerate(names)
        for place, name in enumerate(names[type_], first)
    ]
    return tuple(place._replace(phone=_phone(place, found)) for place in found)


@cache
def qualities() -> dict[str, dict[str, float]]:
    """How good each restaurant is in truth: by its id and the aspect, 0 to 1 (the best).

    It is what the reviewers perceive, and no part of the catalogue's data. For price, 1 is cheap
    for what one gets; for waiting, 1 is no wait; accessibility is to get there and to get in.
    """
    return {
        place.place_id: _qualities(place.place_id, place.price_level) for place in restaurants()
    }


def dishes(restaurant: Restaurant) -> list[Dish]:
    """What people order there; the first two are its specialities."""
    lines = sections("restaurant_dishes")[restaurant.types[0]]
    found = [Dish(*line.split(" | ")) for line in lines]
    return chance("dishes", restaurant.place_id).sample(found, len(found))


def called(part: str) -> str:
    """A part of the city as it stands in a sentence, such as the Bronx."""
    return f"the {part}" if part in _WITH_ARTICLE else part


def id_of(name: str) -> str:
    """The name as an id: small letters and hyphens."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower().replace("'", "")
    return "-".join("".join(letter if letter.isalnum() else " " for letter in plain).split())


def _restaurant(name: str, type_: str, place: int) -> Restaurant:
    place_id, random = id_of(name), chance("restaurant", name)
    borough = _borough(place, len(sections("restaurant_names")[type_]), random)
    neighbourhood, latitude, longitude = random.choice(sections("new_york")[borough]).split(" | ")
    level = round(between(random.gauss(_PRICE_LEVELS.get(type_, _USUAL_PRICE_LEVEL), 0.7), 1, 4))
    street = random.choice(sections("new_york")["streets"])
    found = Restaurant(
        place_id,
        name,
        _types(name, type_, random),
        borough,
        neighbourhood,
        f"{random.randint(3, 489)} {street}, {neighbourhood}, {borough}, NY",
        "",
        level,
        random.choice(_HOURS.get(type_, _USUAL_HOURS)),
        _rating(place_id, level),
        round(between(chance("rating count", place_id).lognormvariate(4.6, 0.9), 25, 1500)),
        round(float(latitude) + random.uniform(-0.003, 0.003), 5),
        round(float(longitude) + random.uniform(-0.003, 0.003), 5),
        "",
    )
    return found._replace(description=_description(found, random))


def _borough(place: int, of_type: int, random: Random) -> str:
    """Each borough has one of the first five of a type; the rest lie where most do."""
    if place % of_type < len(BOROUGHS):
        return list(BOROUGHS)[place % of_type]
    return drawn(random, BOROUGHS)


def _phone(restaurant: Restaurant, among: list[Restaurant]) -> str:
    """One of the numbers from 555-0100 to 555-0199, which are kept for fiction; each once."""
    neighbours = [place.name for place in among if place.borough == restaurant.borough]
    number = neighbours.index(restaurant.name) * 37 % 100
    return f"{_AREA_CODES[restaurant.borough]}-555-01{number:02}"


def _types(name: str, type_: str, random: Random) -> list[str]:
    further = dict(_FURTHER_TYPES.get(type_, {}))
    if name in _KOREAN_BARBECUES:
        further = {"korean_restaurant": 1.0, "barbecue_restaurant": 1.0}
    elif type_ == "barbecue_restaurant":
        further = {"american_restaurant": 0.8}
    found = [type_, *(other for other, share in further.items() if random.random() < share)]
    return list(dict.fromkeys(found))[:3]


def _qualities(place_id: str, price_level: int) -> dict[str, float]:
    random = chance("qualities", place_id)
    overall = random.gauss(0.6, 0.13)
    # Dearer places are nicer rooms and worse value, more often than not.
    shift = {"price": -0.14 * (price_level - 2), "ambience": 0.07 * (price_level - 2)}
    return {
        aspect: round(between(random.gauss(overall + shift.get(aspect, 0), 0.26), 0.02, 0.98), 2)
        for aspect in ASPECTS
    }


def _rating(place_id: str, price_level: int) -> float:
    """Out of 5, with one decimal: what all its guests gave it, not only those who wrote."""
    noise = chance("rating", place_id).gauss(0, 0.15)
    return round(
        between(1.3 + 3.9 * overall_quality(_qualities(place_id, price_level)) + noise, 1, 5), 1
    )


def overall_quality(found: dict[str, float]) -> float:
    """How good a restaurant is all in all, 0 to 1: the food counts as three other aspects."""
    return (sum(found.values()) + 2 * found["food"]) / (len(found) + 2)


def _description(restaurant: Restaurant, random: Random) -> str:
    words = sections("restaurant_descriptions")
    dish, dish2 = (dish.en for dish in dishes(restaurant)[:2])
    parts = [random.choice(words[restaurant.types[0]]), random.choice(words["speciality"])]
    if random.random() < 0.7:
        parts.append(random.choice(_features(restaurant)))
    return " ".join(parts).format(
        neighbourhood=called(restaurant.neighbourhood),
        seats=random.randint(9, 46) * 2,
        dish=dish,
        dish2=dish2,
    )


def _features(restaurant: Restaurant) -> list[str]:
    """What its description may say of the house: something that its best or worst aspect shows."""
    words = sections("restaurant_descriptions")
    found = _qualities(restaurant.place_id, restaurant.price_level)
    best, worst = max(found, key=found.__getitem__), min(found, key=found.__getitem__)
    said = words.get(f"{best} good", []) + words.get(f"{worst} bad", [])
    return said or words["feature"]
