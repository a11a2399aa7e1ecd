import json

import pytest

from tests.fakes.restaurants import import_restaurants

pytestmark = pytest.mark.slow

LINE = {
    "id": "q",
    "language": "en",
    "question": "Italian in Queens",
    "filters": {
        "borough_en": "Queens",
        "desired_types": ["italian_restaurant"],
        "min_rating": None,
    },
    "aspect_weights": {},
    "acceptable": ["pronto"],
}


def test_a_catalog_is_evaluated_with_custom_questions(line, build_services, tmp_path):
    import_restaurants(build_services(), tmp_path / "restaurants")
    file, figures = tmp_path / "questions.jsonl", tmp_path / "figures.json"
    file.write_text(json.dumps(LINE))
    result = line.run("evaluate-catalog", file, "--json", figures)
    assert "en, 1 questions\n  filters_right         1.000 (1.000 to 1.000)" in result.stdout
    assert "without a cross-encoder" in result.stderr
    assert [row["language"] for row in json.loads(figures.read_text())] == ["en", "all"]


def test_invalid_input_is_reported_before_the_evaluation_starts(line, tmp_path):
    beyond = tmp_path / "none" / "figures.json"
    assert "no folder" in line.run("evaluate-catalog", "--json", beyond, code=1).stderr
    assert "is a folder" in line.run("evaluate-catalog", "--json", tmp_path, code=1).stderr
    line.run("evaluate-catalog", "--catalog", "Homes", code=2)


def test_the_old_command_and_option_names_still_work(line):
    result = line.run("evaluate-catalogue", "--catalogue", "Homes", code=2)
    assert "--catalog requires a file of labeled questions" in result.stderr
    assert "evaluate-catalogue" not in line.run("--help").stdout


def test_an_unreadable_question_file_is_reported(line, build_services, tmp_path):
    import_restaurants(build_services(), tmp_path / "restaurants")
    file = tmp_path / "questions.jsonl"
    file.write_text("{}")
    assert "line 1, is not a labeled question" in line.run("evaluate-catalog", file, code=1).stderr
