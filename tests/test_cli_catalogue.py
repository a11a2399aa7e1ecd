"""`cli.py catalogue`, as a person and as a program read it."""

import json

import pytest
from typer.testing import CliRunner

from cli import app
from domain import LOCAL_USER
from errors import AppError, SourceError
from tests.fakes.openai import MODEL, Text
from tests.fakes.permissions import permissions_hold
from tests.fakes.restaurants import PLACES, import_restaurants, write_restaurants


@pytest.fixture
def services(build_services):
    return build_services()


@pytest.fixture
def run(services):
    def command(*arguments, code=0):
        folder = str(services.imports.data_dir)
        done = CliRunner().invoke(app, ["catalogue", *arguments, "--data-dir", folder])
        if isinstance(done.exception, AppError):
            raise done.exception
        assert done.exit_code == code, done.output
        return done.stdout

    return command


@pytest.fixture
def search(run, services, tmp_path):
    import_restaurants(services, tmp_path / "restaurants")
    return lambda *arguments: run("search", *arguments)


@pytest.mark.parametrize("below", ["", "catalogue.yaml"])
def test_a_catalogue_that_may_not_be_looked_at_is_named(run, tmp_path, below):
    (tmp_path / "shut").mkdir(mode=0)
    path = tmp_path / "shut" / "restaurants" / below
    with permissions_hold(), pytest.raises(SourceError, match="the right to read it") as caught:
        run("add", str(path))
    assert str(path) in str(caught.value)


def test_a_catalogue_is_added_by_its_folder_and_brought_up_to_date_by_its_file(run, tmp_path):
    path = write_restaurants(tmp_path / "restaurants")
    assert "4 new" in run("add", str(path.parent))
    write_restaurants(tmp_path / "restaurants", [{**PLACES[0], "rating": 4.1}, *PLACES[1:]])
    assert "3 unchanged" in run("add", str(path))


def test_a_place_that_cannot_be_read_is_told_and_the_exit_code_says_look(run, tmp_path):
    twice = write_restaurants(tmp_path / "restaurants", [*PLACES, PLACES[0]])
    assert "lucia" in run("add", str(twice), code=3)


def bad_review(n):
    return {"text": f"Nice {n}.", "group": "local", "rating": 11}


def test_why_reviews_are_left_out_is_told_once(run, tmp_path):
    reviews = [*PLACES[0]["reviews"], bad_review(0)]
    path = str(write_restaurants(tmp_path / "it", [{**PLACES[0], "reviews": reviews}, PLACES[1]]))
    told = run("add", path)
    assert "warning   Trattoria Lucia: " in told
    assert "11 is not a number from 0 to 5; correct it" in told
    assert "warning" not in run("add", path)


def test_of_many_warnings_the_first_are_told_and_programs_get_all(run, tmp_path):
    reviews = [bad_review(n) for n in range(10)]
    places = [{**PLACES[0], "place_id": f"p{n}", "reviews": reviews} for n in range(3)]
    path = str(write_restaurants(tmp_path / "it", places))
    told = run("add", path)
    assert told.count("warning   ") == 20
    assert "10 more warnings are on the library page." in told
    write_restaurants(tmp_path / "it", [{**one, "about": "New."} for one in places])
    assert len(json.loads(run("add", path, "--json"))["warnings"]) == 30


def test_a_mass_removal_waits_for_its_confirmation(run, tmp_path):
    many = [{**PLACES[3], "place_id": f"p{n}"} for n in range(11)]
    folder = tmp_path / "restaurants"
    reviews = {"column": "reviews", "text": "text"}
    run("add", str(write_restaurants(folder, [PLACES[0], *many], reviews=reviews)))
    path = str(write_restaurants(folder, PLACES[:1], reviews=reviews))
    assert "--confirm-removals" in run("add", path, code=3)
    assert "11 gone" in run("add", path, "--confirm-removals")


def test_a_description_that_is_wrong_is_an_error_that_names_the_field(run, tmp_path):
    path = write_restaurants(tmp_path / "restaurants", id="")
    with pytest.raises(AppError, match="id"):
        run("add", str(path))


def test_where_nothing_is_it_says_so(run, tmp_path):
    with pytest.raises(AppError, match="nothing at"):
        run("add", str(tmp_path / "nowhere"))


def test_the_answer_its_sources_and_the_places_are_printed(search):
    told = search("분위기 좋은 이탈리안")
    assert "Trattoria Lucia" in told
    assert "Understood: italian_restaurant, ambience" in told
    assert "1. Trattoria Lucia  (italian_restaurant, Brooklyn, ★ 4.7" in told
    assert "hybrid 1.00 + confidence" in told
    assert "[1] Trattoria Lucia" in told


def test_values_of_which_any_will_do_are_told_together(search):
    told = search("in Brooklyn or Queens")
    assert "Understood: borough_en Brooklyn or Queens." in told
    assert "Corner Diner" not in told


@pytest.mark.parametrize("question", ["not Italian", "이탈리안 말고", "イタリアン以外"])
def test_a_type_that_is_declined_is_told_and_left_out(search, question):
    told = search(question)
    assert "Understood: not italian_restaurant." in told
    assert "Ramen Taro" in told
    assert "Trattoria Lucia" not in told


def test_preferences_and_the_person_count(search, services):
    services.people.patch(LOCAL_USER, "minji", preferences={"service": 2.0})
    told = json.loads(search("ramen", "--user", "minji", "--prefer", "food=4.5", "--json"))
    assert (told["weights"]["food"], told["weights"]["service"]) == (0.9, 0.4)


def test_for_programs_the_parts_have_names_and_add_up(search):
    told = json.loads(search("분위기 좋은 이탈리안", "--json"))
    first = told["places"][0]
    assert first["place"]["title"] == "Trattoria Lucia"
    parts = {part["name"]: part["value"] * part["weight"] for part in first["parts"]}
    assert sum(parts.values()) == pytest.approx(first["score"])
    assert {citation["state"] for citation in told["citations"]} == {"verified"}


@pytest.mark.parametrize("told", ["food", "food=much", "=3"])
def test_what_is_no_preference_is_refused(search, told):
    with pytest.raises(AppError, match="food=4.5|aspect"):
        search("ramen", "--prefer", told)


def test_an_unknown_person_is_named(search):
    with pytest.raises(AppError, match="nobody"):
        search("ramen", "--user", "nobody")


def test_without_a_catalogue_it_says_how_to_add_one(run):
    with pytest.raises(AppError, match="catalogue add"):
        run("search", "ramen")


def test_why_a_model_did_not_read_the_question_is_told(search, services, model_server, monkeypatch):
    assert search("ramen")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    monkeypatch.setenv("FOOTNOTE_CHAT_MODEL", MODEL)
    model_server.will(Text("no call"), Text("no call"), Text("Nothing."))
    model_server.answer = lambda _: Text("{}")  # translates nothing
    folder = str(services.imports.data_dir)
    done = CliRunner().invoke(app, ["catalogue", "search", "ramen", "--data-dir", folder])
    assert f"Footnote: The question was read by rules, not by {MODEL}" in done.output
