"""Labels the restaurants that answer the sample questions.

`python -m benchmarks.sample_catalogs.label_questions` updates the file of questions.

The interpretation of each question is written by hand. The acceptable places are computed from it
and from the generated qualities of the restaurants.
"""

import json

from benchmarks.sample_catalogs.generate import CATALOGS
from benchmarks.sample_catalogs.restaurants import Restaurant, qualities, restaurants
from domain import Place
from services.evaluation.catalog_figures import acceptable_places, load_catalog_questions

QUESTIONS = CATALOGS / "restaurants" / "questions.jsonl"


def labeled_questions() -> str:
    """The text of the file of questions, with recomputed acceptable places."""
    places = [_place(one) for one in restaurants()]
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    for row, question in zip(rows, load_catalog_questions(QUESTIONS), strict=True):
        row["acceptable"] = list(acceptable_places(question, places, qualities()))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _place(restaurant: Restaurant) -> Place:
    return Place(
        document_id=restaurant.place_id,
        catalogue_id="",
        place_id=restaurant.place_id,
        title=restaurant.name,
        types=tuple(restaurant.types),
        fields={"borough_en": restaurant.borough},
        rating=restaurant.rating,
    )


if __name__ == "__main__":
    QUESTIONS.write_text(labeled_questions(), encoding="utf-8", newline="\n")
