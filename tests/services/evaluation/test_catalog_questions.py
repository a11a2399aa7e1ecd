import json

import pytest

from domain import CatalogFilters
from domain.errors import InputError
from services.evaluation.catalog_figures import load_catalog_questions

LINE = {
    "id": "en-01",
    "language": "en",
    "question": "Anything cheap in Queens?",
    "filters": {"borough_en": "Queens", "desired_types": None, "min_rating": None},
    "aspect_weights": {"price": "wanted"},
    "acceptable": ["p1"],
}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "questions.jsonl"


def write(file, *rows):
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    return file


def test_a_line_is_a_question_and_null_means_no_filter(file):
    (question,) = load_catalog_questions(write(file, LINE))
    assert question.filters == CatalogFilters({"borough_en": "Queens"}, None, None)
    assert (question.text, question.aspects) == ("Anything cheap in Queens?", {"price": "wanted"})
    assert (question.unwanted, question.acceptable) == ((), ("p1",))


def test_a_list_of_values_means_any_of_them(file):
    several = {**LINE["filters"], "borough_en": ["Queens", "Bronx"]}
    one = {**LINE["filters"], "borough_en": ["Queens"]}
    questions = load_catalog_questions(
        write(file, *({**LINE, "filters": f} for f in (several, one)))
    )
    values = [each.filters.fields["borough_en"] for each in questions]
    assert values == [("Queens", "Bronx"), "Queens"]


def test_an_invalid_line_is_reported_with_its_missing_part(file):
    with pytest.raises(InputError, match="line 2.*'filters'"):
        load_catalog_questions(write(file, LINE, {"id": "x"}))


def test_an_unknown_aspect_weight_is_reported_with_its_line_and_name(file):
    with pytest.raises(InputError, match=r"line 1.*aspect_weights.price is 0.9"):
        load_catalog_questions(write(file, {**LINE, "aspect_weights": {"price": 0.9}}))


def test_a_missing_or_empty_file_is_reported(file):
    with pytest.raises(InputError, match="questions.jsonl can't be read"):
        load_catalog_questions(file)
    file.write_text("\n")
    with pytest.raises(InputError, match="contains no questions"):
        load_catalog_questions(file)
