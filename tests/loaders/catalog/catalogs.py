"""Writes small catalogs to a folder."""

import csv
import json

import pyarrow
import pyarrow.parquet
import yaml

CAFES = [
    {
        "id": "a1",
        "name": "Café Linden",
        "about": "Coffee and cake.",
        "street": "Elm Street 1",
        "kinds": ["cafe", "bakery"],
        "town": "Bristol",
        "stars": 4.5,
        "lat": 51.4,
        "lon": -2.6,
    },
    {"id": "b2", "name": "Bar Nord", "kinds": ["bar"], "town": "Bath"},
]
REVIEWS = [
    {
        "id": "r1",
        "cafe": "a1",
        "body": "Lovely cake.",
        "stars": 5,
        "on": "2026-03-01",
        "by": "locals",
    },
    {"id": "r2", "cafe": "a1", "body": "Too loud.", "stars": 2},
    {"id": "r3", "cafe": "b2", "body": "Good beer.", "stars": 4},
]
DESCRIPTION = {
    "catalog": "Cafés",
    "places": "cafes.jsonl",
    "id": "id",
    "title": "name",
    "text": ["about"],
    "facts": ["street"],
    "types": {"column": "kinds"},
    "rating": {"column": "stars"},
    "location": {"latitude": "lat", "longitude": "lon"},
    "filters": {"city": {"column": "town"}},
    "reviews": {
        "file": "reviews.jsonl",
        "place": "cafe",
        "text": "body",
        "id": "id",
        "rating": "stars",
        "date": "on",
        "group": "by",
    },
}


def write_catalog(folder, *, cafes=CAFES, review_rows=REVIEWS, **changes):
    """Write a catalog; `changes` replace fields of its description, and None omits a field."""
    folder.mkdir(exist_ok=True)
    description = {
        key: value for key, value in (DESCRIPTION | changes).items() if value is not None
    }
    write_rows(folder / description["places"], cafes)
    if description.get("reviews", {}).get("file"):
        write_rows(folder / description["reviews"]["file"], review_rows)
    path = folder / "catalog.yaml"
    path.write_text(yaml.safe_dump(description, allow_unicode=True), encoding="utf-8")
    return path


def write_rows(path, rows):
    """Write rows in the format of the file's suffix: JSON Lines, CSV, or Parquet."""
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)


def _cell(value):
    return ";".join(value) if isinstance(value, list) and isinstance(value[0], str) else value
