"""`cli.py catalog`, as text and as JSON."""

import json

import pytest
from typer.testing import CliRunner

from cli import app
from domain import LOCAL_USER
from domain.errors import AppError, SourceError
from tests.fakes.openai import MODEL, Text
from tests.fakes.permissions import enforced_permissions
from tests.fakes.restaurants import PLACES, import_restaurants, write_restaurants

pytestmark = pytest.mark.slow


@pytest.fixture
def services(build_services):
    return build_services()


@pytest.fixture
def run(services):
    def command(*arguments, code=0):
        folder = str(services.parts.settings.data_dir)
        result = CliRunner().invoke(app, ["catalog", *arguments, "--data-dir", folder])
        if isinstance(result.exception, AppError):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.stdout

    return command


@pytest.fixture
def search(run, services, tmp_path):
    import_restaurants(services, tmp_path / "restaurants")
    return lambda *arguments: run("search", *arguments)


@pytest.mark.parametrize("file_name", ["", "catalog.yaml"])
def test_a_catalog_without_read_permission_is_reported(run, tmp_path, file_name):
    (tmp_path / "shut").mkdir(mode=0)
    path = tmp_path / "shut" / "restaurants" / file_name
    with (
        enforced_permissions(),
        pytest.raises(SourceError, match="grant read permission") as caught,
    ):
        run("add", str(path))
    assert str(path) in str(caught.value)


def test_a_catalog_is_added_by_folder_and_updated_by_file(run, tmp_path):
    path = write_restaurants(tmp_path / "restaurants")
    assert "4 new" in run("add", str(path.parent))
    write_restaurants(tmp_path / "restaurants", [{**PLACES[0], "rating": 4.1}, *PLACES[1:]])
    assert "3 unchanged" in run("add", str(path))


def test_a_folder_with_the_old_description_file_is_still_added(run, tmp_path):
    path = write_restaurants(tmp_path / "restaurants")
    path.rename(path.with_name("catalogue.yaml"))
    assert "4 new" in run("add", str(path.parent))


def test_an_unreadable_place_is_reported_with_its_own_exit_code(run, tmp_path):
    twice = write_restaurants(tmp_path / "restaurants", [*PLACES, PLACES[0]])
    assert "lucia" in run("add", str(twice), code=3)


def invalid_review(n):
    return {"text": f"Nice {n}.", "group": "local", "rating": 11}


def test_the_reason_for_skipped_reviews_is_printed_once(run, tmp_path):
    reviews = [*PLACES[0]["reviews"], invalid_review(0)]
    path = str(write_restaurants(tmp_path / "it", [{**PLACES[0], "reviews": reviews}, PLACES[1]]))
    output = run("add", path)
    assert "warning   Trattoria Lucia: " in output
    assert "11 is not a number from 0 to 5; correct it" in output
    assert "warning" not in run("add", path)


def test_only_the_first_warnings_are_printed_but_json_has_all(run, tmp_path):
    reviews = [invalid_review(n) for n in range(10)]
    places = [{**PLACES[0], "place_id": f"p{n}", "reviews": reviews} for n in range(3)]
    path = str(write_restaurants(tmp_path / "it", places))
    output = run("add", path)
    assert output.count("warning   ") == 20
    assert "10 more warnings are on the library page." in output
    write_restaurants(tmp_path / "it", [{**one, "about": "New."} for one in places])
    assert len(json.loads(run("add", path, "--json"))["warnings"]) == 30


def test_a_mass_removal_of_places_needs_confirmation(run, tmp_path):
    many = [{**PLACES[3], "place_id": f"p{n}"} for n in range(11)]
    folder = tmp_path / "restaurants"
    reviews = {"column": "reviews", "text": "text"}
    run("add", str(write_restaurants(folder, [PLACES[0], *many], reviews=reviews)))
    path = str(write_restaurants(folder, PLACES[:1], reviews=reviews))
    assert f"run: python cli.py catalog add {path} --confirm-removals" in run("add", path, code=3)
    assert "11 gone" in run("add", path, "--confirm-removals")


def test_an_invalid_description_is_an_error_that_names_the_field(run, tmp_path):
    path = write_restaurants(tmp_path / "restaurants", id="")
    with pytest.raises(AppError, match="id"):
        run("add", str(path))


def test_a_missing_catalog_folder_is_reported(run, tmp_path):
    with pytest.raises(AppError, match="does not exist"):
        run("add", str(tmp_path / "nowhere"))


def test_an_answer_is_printed_with_its_sources_and_places(search):
    output = search("분위기 좋은 이탈리안")
    assert "Trattoria Lucia" in output
    assert "Understood: italian_restaurant, ambience" in output
    assert "1. Trattoria Lucia  (italian_restaurant, Brooklyn, ★ 4.7" in output
    assert "hybrid 1.00 + confidence" in output
    assert "[1] Trattoria Lucia" in output


def test_alternative_values_are_printed_together(search):
    output = search("in Brooklyn or Queens")
    assert "Understood: borough_en Brooklyn or Queens." in output
    assert "Corner Diner" not in output


@pytest.mark.parametrize("question", ["not Italian", "이탈리안 말고", "イタリアン以外"])
def test_an_excluded_type_is_printed_and_filtered_out(search, question):
    output = search(question)
    assert "Understood: not italian_restaurant." in output
    assert "Ramen Taro" in output
    assert "Trattoria Lucia" not in output


def test_preferences_and_the_person_change_the_ranking(search, services):
    services.people.patch(LOCAL_USER, "minji", preferences={"service": 2.0})
    output = json.loads(search("ramen", "--user", "minji", "--prefer", "food=4.5", "--json"))
    assert (output["weights"]["food"], output["weights"]["service"]) == (0.9, 0.4)


def test_json_scores_have_named_parts_that_add_up(search):
    output = json.loads(search("분위기 좋은 이탈리안", "--json"))
    first = output["places"][0]
    assert first["place"]["title"] == "Trattoria Lucia"
    parts = {part["name"]: part["value"] * part["weight"] for part in first["parts"]}
    assert sum(parts.values()) == pytest.approx(first["score"])
    assert {citation["state"] for citation in output["citations"]} == {"verified"}


@pytest.mark.parametrize("preference", ["food", "food=much", "=3"])
def test_an_invalid_preference_is_rejected(search, preference):
    with pytest.raises(AppError, match="food=4.5|aspect"):
        search("ramen", "--prefer", preference)


def test_an_unknown_person_is_reported(search):
    with pytest.raises(AppError, match="nobody"):
        search("ramen", "--user", "nobody")


def test_without_a_catalog_the_command_says_how_to_add_one(run):
    with pytest.raises(AppError, match="catalog add"):
        run("search", "ramen")


def test_the_command_says_why_a_model_did_not_interpret_the_question(
    search, services, model_server, monkeypatch
):
    assert search("ramen")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    monkeypatch.setenv("FOOTNOTE_CHAT_MODEL", MODEL)
    model_server.will(Text("no call"), Text("no call"), Text("Nothing."))
    model_server.answer = lambda _: Text("{}")  # does not translate
    folder = str(services.parts.settings.data_dir)
    result = CliRunner().invoke(app, ["catalog", "search", "ramen", "--data-dir", folder])
    assert f"Footnote: The question was analyzed by rules, not by {MODEL}" in result.output
