"""Eighty rental homes in Osaka that do not exist, and how good each is in truth."""

from functools import cache
from random import Random
from typing import NamedTuple

from sample_catalogues.chance import between, chance, drawn
from sample_catalogues.words import sections

HOMES = 80
ASPECTS = ("quiet", "light", "transport", "landlord", "price")
WARDS = (
    *("Kita", "Chuo", "Nishi", "Tennoji", "Naniwa"),
    *("Abeno", "Yodogawa", "Fukushima", "Sumiyoshi", "Joto"),
)

_KINDS = {"studio": 0.3, "apartment": 0.4, "house": 0.15, "share_house": 0.15}
_SIZES = {"studio": (16, 30), "apartment": (34, 78), "house": (55, 110), "share_house": (9, 16)}


class Home(NamedTuple):
    """A home as `homes.csv` has it; `kind` may name two, parted by ";". Rent is for a month."""

    home_id: str
    listing: str
    kind: str
    ward: str
    pets: str
    rent_yen: int
    size_m2: int
    floor: int
    year_built: int
    minutes_to_station: int
    about: str
    latitude: float
    longitude: float


@cache
def homes() -> tuple[Home, ...]:
    """All homes, by their ids."""
    return tuple(_home(f"home-{number:03}", number) for number in range(1, HOMES + 1))


@cache
def home_qualities() -> dict[str, dict[str, float]]:
    """How good each home is in truth: by its id and the aspect, 0 to 1 (the best).

    It is what the tenants perceive, and no part of the catalogue's data. For price, 1 is cheap for
    what one gets; for transport, 1 is a station at the door.
    """
    return {f"home-{number:03}": _qualities(f"home-{number:03}") for number in range(1, HOMES + 1)}


def _qualities(home_id: str) -> dict[str, float]:
    random = chance("home qualities", home_id)
    return {
        aspect: round(between(random.gauss(0.58, 0.27), 0.03, 0.97), 2) for aspect in ASPECTS
    }  # fmt: skip


def _home(home_id: str, number: int) -> Home:
    random, words = chance("home", home_id), sections("homes")
    ward = WARDS[number % len(WARDS)]
    latitude, longitude = map(float, words[ward][0].split(" | "))
    kind = drawn(random, _KINDS)
    size, year = random.randint(*_SIZES[kind]), random.randint(1972, 2023)
    floor = 1 if kind == "house" else random.randint(1, 12)
    about = [random.choice(words[kind]), random.choice(words["extra"])]
    return Home(
        home_id,
        _listing(number, floor, kind),
        "studio;apartment" if kind == "studio" and random.random() < 0.3 else kind,
        ward,
        random.choice(("allowed", "not allowed", "not allowed")),
        _rent(random, home_id, size),
        size,
        floor,
        year,
        _minutes(random, home_id),
        " ".join(about).format(size=size, floor=floor, year=year),
        round(latitude + random.uniform(-0.003, 0.003), 5),
        round(longitude + random.uniform(-0.003, 0.003), 5),
    )


def _listing(number: int, floor: int, kind: str) -> str:
    """The building, each with another name, and for all but houses the room."""
    prefixes, buildings = sections("homes")["prefix"], sections("homes")["building"]
    turn, place = divmod(number, len(buildings))
    if kind == "house":
        return ("{} House", "Old {} House", "{} Lane House")[turn].format(buildings[place])
    prefix = prefixes[(number + turn) % len(prefixes)]
    return f"{prefix} {buildings[place]} {floor}0{number % 6 + 1}"


def _rent(random: Random, home_id: str, size: int) -> int:
    """By the size, and dearer the worse the home is at price."""
    per_metre = 1500 + 900 * (1 - _qualities(home_id)["price"]) + random.gauss(0, 60)
    return 1000 * round((22000 + size * per_metre) / 1000)


def _minutes(random: Random, home_id: str) -> int:
    return round(between(24 - 22 * _qualities(home_id)["transport"] + random.gauss(0, 1), 1, 30))
