import json

from tests.fakes.restaurants import import_restaurants

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


def test_a_catalogue_is_measured_with_questions_of_ones_own(line, build_services, tmp_path):
    import_restaurants(build_services(), tmp_path / "restaurants")
    file, figures = tmp_path / "questions.jsonl", tmp_path / "figures.json"
    file.write_text(json.dumps(LINE))
    done = line.run("evaluate-catalogue", file, "--json", figures)
    assert "en, 1 questions\n  filters_right         1.000 (1.000 to 1.000)" in done.stdout
    assert "without a cross-encoder" in done.stderr
    assert [row["language"] for row in json.loads(figures.read_text())] == ["en", "all"]


def test_what_is_wrong_is_told_before_anything_is_measured(line, tmp_path):
    beyond = tmp_path / "none" / "figures.json"
    assert "no folder" in line.run("evaluate-catalogue", "--json", beyond, code=1).stderr
    assert "is a folder" in line.run("evaluate-catalogue", "--json", tmp_path, code=1).stderr
    line.run("evaluate-catalogue", "--catalogue", "Homes", code=2)


def test_questions_that_can_not_be_read_are_named(line, build_services, tmp_path):
    import_restaurants(build_services(), tmp_path / "restaurants")
    file = tmp_path / "questions.jsonl"
    file.write_text("{}")
    assert "line 1, is no labelled question" in line.run("evaluate-catalogue", file, code=1).stderr
