"""Writes the sample catalogues anew: `python -m sample_catalogues.generate`."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sample_catalogues.restaurant_reviews import restaurant_reviews
from sample_catalogues.restaurants import restaurants

HERE = Path(__file__).parent


def files() -> dict[str, str]:
    """The text of every data file, by its path beside this script."""
    return {
        "restaurants/places.jsonl": _lines(restaurants()),
        "restaurants/reviews.jsonl": _lines(restaurant_reviews()),
    }


def write(folder: Path = HERE) -> None:
    """Write every data file below the folder, the same bytes each time."""
    for path, text in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")


def _lines(rows: Iterable[NamedTuple]) -> str:
    return "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    write()
