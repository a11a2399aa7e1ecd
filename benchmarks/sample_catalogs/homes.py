"""Eighty fictional rental homes in Osaka, with their true qualities and reviews."""

from datetime import date, timedelta
from functools import cache
from math import exp
from random import Random
from typing import NamedTuple

from benchmarks.sample_catalogs.sentences import Clause, between, chance, choose, english, fill
from benchmarks.sample_catalogs.words import sections

HOMES = 80
ASPECTS = ("quiet", "light", "transport", "landlord", "price")
WARDS = (
    *("Kita", "Chuo", "Nishi", "Tennoji", "Naniwa"),
    *("Abeno", "Yodogawa", "Fukushima", "Sumiyoshi", "Joto"),
)

_KINDS = {"studio": 0.3, "apartment": 0.4, "house": 0.15, "share_house": 0.15}
_SIZES = {"studio": (16, 30), "apartment": (34, 78), "house": (55, 110), "share_house": (9, 16)}


class Home(NamedTuple):
    """A row of `homes.csv`; `kind` can be two kinds separated by ";". The rent is monthly."""

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
    """All homes, by id."""
    return tuple(_home(f"home-{number:03}", number) for number in range(1, HOMES + 1))


@cache
def home_qualities() -> dict[str, dict[str, float]]:
    """The true quality of each home by id and aspect, from 0 to 1 (best).

    Reviews are generated from these qualities, which are not part of the catalog's data. For price,
    1 means good value; for transport, 1 means a station at the door.
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
    kind = choose(random, _KINDS)
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
    """A unique name of the building and, except for houses, the room."""
    prefixes, buildings = sections("homes")["prefix"], sections("homes")["building"]
    turn, place = divmod(number, len(buildings))
    if kind == "house":
        return ("{} House", "Old {} House", "{} Lane House")[turn].format(buildings[place])
    prefix = prefixes[(number + turn) % len(prefixes)]
    return f"{prefix} {buildings[place]} {floor}0{number % 6 + 1}"


def _rent(random: Random, home_id: str, size: int) -> int:
    """The monthly rent, which increases with size and with worse value for money."""
    per_metre = 1500 + 900 * (1 - _qualities(home_id)["price"]) + random.gauss(0, 60)
    return 1000 * round((22000 + size * per_metre) / 1000)


def _minutes(random: Random, home_id: str) -> int:
    return round(between(24 - 22 * _qualities(home_id)["transport"] + random.gauss(0, 1), 1, 30))


HOME_REVIEWS = 400
_FIRST_DAY = date(2023, 4, 1)
_DAYS = 1150


class HomeReview(NamedTuple):
    """A row of `reviews.csv`; `stars` are 1 to 10."""

    number: int
    home: str
    comment: str
    stars: int
    written_on: str


@cache
def home_reviews() -> tuple[HomeReview, ...]:
    """All reviews by date, at least two per home."""
    random = chance("home reviews")
    ids = [home.home_id for home in homes()]
    reviewed = [*ids, *ids, *random.choices(ids, k=HOME_REVIEWS - 2 * len(ids))]
    days = sorted(random.randrange(_DAYS) for _ in reviewed)
    random.shuffle(reviewed)
    used: dict[str, set[str]] = {home_id: set() for home_id in ids}
    return tuple(
        _review(number, home_id, _FIRST_DAY + timedelta(days=day), used[home_id])
        for number, (home_id, day) in enumerate(zip(reviewed, days, strict=True), 1)
    )


def _review(number: int, home_id: str, day: date, used: set[str]) -> HomeReview:
    random = chance("home review", number)
    language = choose(random, {"en": 0.72, "ja": 0.28})
    opinions = _opinions(random, home_id)
    stars = _stars(random, home_id, opinions)
    ordered = sorted(opinions, key=lambda aspect: opinions[aspect] != (stars >= 6))
    clauses = [
        Clause(_phrase(random, language, aspect, opinions[aspect], used), opinions[aspect])
        for aspect in ordered
    ]
    text = _text(random, language, clauses, stars)
    return HomeReview(number, home_id, text, stars, day.isoformat())


def _opinions(random: Random, home_id: str) -> dict[str, bool]:
    """The aspects that a tenant praises (True) or criticizes, mostly very good or very bad ones."""
    truth = home_qualities()[home_id]
    opinions: dict[str, bool] = {}
    for _ in range(choose(random, {1: 0.15, 2: 0.4, 3: 0.45})):
        often = {key: 0.1 + abs(truth[key] - 0.5) for key in ASPECTS if key not in opinions}
        aspect = choose(random, often)
        opinions[aspect] = random.random() < 1 / (1 + exp(-11 * (truth[aspect] - 0.5)))
    return opinions


def _stars(random: Random, home_id: str, opinions: dict[str, bool]) -> int:
    truth = home_qualities()[home_id]
    praise = sum(opinions.values()) / len(opinions)
    stars = round(1.9 + 4.5 * praise + 4 * sum(truth.values()) / len(truth) + random.gauss(0, 0.6))
    lowest, highest = (7, 10) if praise == 1 else (1, 4) if praise == 0 else (4, 8)
    return int(between(stars, lowest, highest))


def _phrase(random: Random, language: str, aspect: str, praises: bool, used: set[str]) -> str:
    """A phrase for an opinion; not used by an earlier review of the home, if possible."""
    phrases = sections(f"home_reviews_{language}")[f"{aspect} {'good' if praises else 'bad'}"]
    phrase = random.choice([phrase for phrase in phrases if phrase not in used] or phrases)
    used.add(phrase)
    return phrase


def _text(random: Random, language: str, clauses: list[Clause], stars: int) -> str:
    source = f"home_reviews_{language}"
    feeling = "bad" if stars < 5 else "mixed" if stars < 7 or not clauses[-1].praises else "good"
    start, end = (
        fill(random, random.choice(sections(source)[name]), {}) if random.random() < share else ""
        for name, share in (("start", 0.35), (f"end {feeling}", 0.35))
    )
    if language == "en":
        return english(random, start, clauses, end, source)
    return _japanese(random, start, clauses, end)


def _japanese(random: Random, start: str, clauses: list[Clause], end: str) -> str:
    sentences = [start] if start else []
    before: Clause | None = None
    for clause in clauses:
        contrasts = before is not None and before.praises != clause.praises
        words = sections("home_reviews_ja")[f"turn {'good' if clause.praises else 'bad'}"]
        sentences.append(random.choice(words) + clause.text if contrasts else clause.text)
        before = clause
    return "".join(f"{sentence}。" for sentence in [*sentences, *([end] if end else [])])
