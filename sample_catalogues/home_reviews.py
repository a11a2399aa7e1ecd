"""Four hundred reviews of the homes, in English and some in Japanese."""

from datetime import date, timedelta
from functools import cache
from math import exp
from random import Random
from typing import NamedTuple

from sample_catalogues.chance import between, chance, drawn
from sample_catalogues.homes import ASPECTS, home_qualities, homes
from sample_catalogues.sentences import Clause, english, filled
from sample_catalogues.words import sections

REVIEWS = 400
_FIRST_DAY = date(2023, 4, 1)
_DAYS = 1150


class HomeReview(NamedTuple):
    """A review as `reviews.csv` has it. `stars` are 1 to 10."""

    number: int
    home: str
    comment: str
    stars: int
    written_on: str


@cache
def home_reviews() -> tuple[HomeReview, ...]:
    """All reviews in the order of their days, at least two of each home."""
    random = chance("home reviews")
    ids = [home.home_id for home in homes()]
    reviewed = [*ids, *ids, *random.choices(ids, k=REVIEWS - 2 * len(ids))]
    days = sorted(random.randrange(_DAYS) for _ in reviewed)
    random.shuffle(reviewed)
    used: dict[str, set[str]] = {home_id: set() for home_id in ids}
    return tuple(
        _review(number, home_id, _FIRST_DAY + timedelta(days=day), used[home_id])
        for number, (home_id, day) in enumerate(zip(reviewed, days, strict=True), 1)
    )


def _review(number: int, home_id: str, day: date, used: set[str]) -> HomeReview:
    random = chance("home review", number)
    language = drawn(random, {"en": 0.72, "ja": 0.28})
    said = _opinions(random, home_id)
    stars = _stars(random, home_id, said)
    ordered = sorted(said, key=lambda aspect: said[aspect] != (stars >= 6))
    clauses = [
        Clause(_phrase(random, language, aspect, said[aspect], used), said[aspect])
        for aspect in ordered
    ]
    text = _text(random, language, clauses, stars)
    return HomeReview(number, home_id, text, stars, day.isoformat())


def _opinions(random: Random, home_id: str) -> dict[str, bool]:
    """What a tenant speaks of, mostly of what is remarkable, and whether in praise."""
    truth = home_qualities()[home_id]
    said: dict[str, bool] = {}
    for _ in range(drawn(random, {1: 0.15, 2: 0.4, 3: 0.45})):
        often = {key: 0.1 + abs(truth[key] - 0.5) for key in ASPECTS if key not in said}
        aspect = drawn(random, often)
        said[aspect] = random.random() < 1 / (1 + exp(-11 * (truth[aspect] - 0.5)))
    return said


def _stars(random: Random, home_id: str, said: dict[str, bool]) -> int:
    truth = home_qualities()[home_id]
    praise = sum(said.values()) / len(said)
    stars = round(1.9 + 4.5 * praise + 4 * sum(truth.values()) / len(truth) + random.gauss(0, 0.6))
    lowest, highest = (7, 10) if praise == 1 else (1, 4) if praise == 0 else (4, 8)
    return int(between(stars, lowest, highest))


def _phrase(random: Random, language: str, aspect: str, praises: bool, used: set[str]) -> str:
    """Words for an opinion that no earlier review of the home has used, while there are any."""
    phrases = sections(f"home_reviews_{language}")[f"{aspect} {'good' if praises else 'bad'}"]
    phrase = random.choice([phrase for phrase in phrases if phrase not in used] or phrases)
    used.add(phrase)
    return phrase


def _text(random: Random, language: str, clauses: list[Clause], stars: int) -> str:
    source = f"home_reviews_{language}"
    feeling = "bad" if stars < 5 else "mixed" if stars < 7 or not clauses[-1].praises else "good"
    start, end = (
        filled(random, random.choice(sections(source)[name]), {}) if random.random() < share else ""
        for name, share in (("start", 0.35), (f"end {feeling}", 0.35))
    )
    if language == "en":
        return english(random, start, clauses, end, source)
    return _japanese(random, start, clauses, end)


def _japanese(random: Random, start: str, clauses: list[Clause], end: str) -> str:
    sentences = [start] if start else []
    before: Clause | None = None
    for clause in clauses:
        turned = before is not None and before.praises != clause.praises
        words = sections("home_reviews_ja")[f"turn {'good' if clause.praises else 'bad'}"]
        sentences.append(random.choice(words) + clause.text if turned else clause.text)
        before = clause
    return "".join(f"{sentence}。" for sentence in [*sentences, *([end] if end else [])])
