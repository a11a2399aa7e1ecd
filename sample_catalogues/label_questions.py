"""Says which restaurants answer the labelled questions, in their file.

`python -m sample_catalogues.label_questions` writes it anew.

What a question means is written by hand, from the question alone. The places that answer it follow
from that and from how good each restaurant is made to be; nobody picks them.
"""

import json
from pathlib import Path

from domain import Place
from evaluation.catalogue_labels import acceptable_places
from evaluation.catalogue_questions import load_catalogue_questions
from sample_catalogues.restaurants import Restaurant, qualities, restaurants

QUESTIONS = Path(__file__).parent / "restaurants" / "questions.jsonl"


def labelled() -> str:
    """The text of the file of questions, the acceptable places of each worked out anew."""
    places = [_place(one) for one in restaurants()]
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    for row, question in zip(rows, load_catalogue_questions(QUESTIONS), strict=True):
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
    QUESTIONS.write_text(labelled(), encoding="utf-8", newline="\n")
