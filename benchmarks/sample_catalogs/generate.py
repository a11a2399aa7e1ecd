"""Generates the sample catalogs: `python -m benchmarks.sample_catalogs.generate`."""

import csv
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from benchmarks.sample_catalogs.homes import home_reviews, homes
from benchmarks.sample_catalogs.restaurant_reviews import restaurant_reviews
from benchmarks.sample_catalogs.restaurants import restaurants

CATALOGS = Path(__file__).parents[2] / "samples" / "catalogs"


def files() -> dict[str, str]:
    """The text of each data file by its path relative to the folder of the catalogs."""
    return {
        "restaurants/places.jsonl": _json_lines(restaurants()),
        "restaurants/reviews.jsonl": _json_lines(restaurant_reviews()),
        "homes/homes.csv": _csv(homes()),
        "homes/reviews.csv": _csv(home_reviews()),
    }


def write(folder: Path = CATALOGS) -> None:
    """Write all data files, with the same bytes each time."""
    for path, text in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")


def _json_lines(rows: Sequence[NamedTuple]) -> str:
    return "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in rows)


def _csv(rows: Sequence[NamedTuple]) -> str:
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(rows[0]._fields)
    writer.writerows(rows)
    return buffer.getvalue()


if __name__ == "__main__":
    write()
