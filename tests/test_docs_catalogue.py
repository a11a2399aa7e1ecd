"""docs/catalogue.md: its catalogue and its programs do what it says."""

import re

import pytest

from catalog.lexicon import Lexicon
from catalog.praise import NO_CROSS_ENCODER, PRAISE_INSTEAD
from catalog.preferences import checked
from catalog.query_analyzer import RuleAnalyzer
from catalog.scores import DEFAULT_WEIGHTS, PRAISE_PRIOR_WEIGHT
from catalog.search_engine import EngineOptions
from domain import ASPECTS, Aspect, CatalogueFilters, DocumentRef, Skipped
from errors import AppError, SourceError
from loaders.catalogue.description import description_of, read_description
from loaders.catalogue.places import CataloguePlaces
from settings import Settings
from tests.docs_examples import Page, desk_over_handbook
from tests.fakes.command_line import ROOT

PAGE = Page("catalogue.md")
FILES = dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE.text, re.MULTILINE | re.DOTALL))
SHOWN = re.findall(r"^```text\n(.*?)^```$", PAGE.text, re.MULTILINE | re.DOTALL)
LAST_REVIEW = FILES["reviews.csv"].splitlines()[-1]


@pytest.fixture(scope="module")
def desk(tmp_path_factory, model_cache):
    """A reader's folder with the page's programs, and its catalogue in `~/machines`."""
    desk = desk_over_handbook(PAGE, tmp_path_factory, model_cache)
    write(desk.folder / "machines", FILES)
    return desk


@pytest.fixture
def list_places(tmp_path):
    """The page's catalogue with one change, listed and read: what is wrong with it."""

    def told(file, old, new):
        assert old in FILES[file]
        write(tmp_path, FILES | {file: FILES[file].replace(old, new, 1)})
        return list(complaints(CataloguePlaces(tmp_path / "catalogue.yaml")))

    return told


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def complaints(places):
    try:
        for item in places.list():
            if isinstance(item, Skipped):
                yield item.reason
            elif isinstance(item, DocumentRef):
                yield from places.read(item).metadata["warnings"]
    except SourceError as error:
        yield str(error)


def sample_rules():
    path = ROOT / "sample_catalogues" / "restaurants" / "catalogue.yaml"
    return RuleAnalyzer(description_of(read_description(path)))


def shown(beginning):
    [block] = [text for text in SHOWN if text.startswith(beginning)]
    return block


def without_digits(text):
    """Other processors round vectors otherwise."""
    return re.sub(r"\d\.\d\d\b", "#", text).splitlines()


def test_the_catalogue_of_the_page_is_imported_and_answers_as_shown(desk):
    told = desk.sh(PAGE.command("~/machines"))
    imported, _, answered = told.partition("\n")
    assert imported.startswith("Import completed: 3 new")
    answered = answered.replace(f"({desk.folder}/", "(~/")
    assert without_digits(answered) == without_digits(shown("These places fit best"))


def test_the_document_of_a_place_begins_as_shown(tmp_path):
    write(tmp_path, FILES)
    places = CataloguePlaces(tmp_path / "catalogue.yaml")
    assert places.read(next(places.list())).page_content.startswith(shown("# Alba One").strip())


@pytest.mark.parametrize("program", ["merge.py", "score.py"])
def test_a_program_prints_what_stands_below_it(desk, program):
    below = PAGE.text.split(PAGE.programs[program])[1].split("```text\n")[1].split("```")[0]
    assert desk.python(program) == below


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("catalogue.yaml", "title: name", "title: nme"),
        ("catalogue.yaml", "facts:", "factz:"),
        ("catalogue.yaml", "id: model\n", ""),
        ("catalogue.yaml", "machines.csv", "machines.xlsx"),
        ("catalogue.yaml", "  price: {}", "  weight: {}"),
        ("catalogue.yaml", "  maker:", "  min_rating:"),
        ("machines.csv", "A small machine", "A small, neat machine"),
        ("machines.csv", FILES["machines.csv"].split("\n", 1)[1], ""),
        ("machines.csv", "n4,", "a1,"),
        ("machines.csv", "n4,", ","),
        ("reviews.csv", LAST_REVIEW, LAST_REVIEW.replace("n4", "n5")),
        ("reviews.csv", "barista,8,", "barista,11,"),
        ("reviews.csv", "2,a1", "1,a1"),
        ("reviews.csv", LAST_REVIEW, "8,n4,office,,2025-01-19,"),
    ],
)
def test_bad_data_is_told_in_the_words_of_the_table(list_places, file, old, new):
    told = list_places(file, old, new)
    quoted = [re.escape(one) for one in re.findall(r"\| `(.+)` \|", PAGE.text)]
    templates = [one.replace("…", ".*") for one in quoted]
    assert any(re.fullmatch(one, told[0]) for one in templates), told[0]


def test_a_rating_of_nan_is_told_as_in_the_table(tmp_path):
    told = FILES["catalogue.yaml"].replace(", power_w", "")
    rated = told.replace("{scale: 10}", "{column: stars, scale: 10}")
    rows = FILES["machines.csv"].replace("power_w", "stars").replace(",1200", ",NaN")
    write(tmp_path, FILES | {"catalogue.yaml": rated, "machines.csv": rows})
    [first, *_] = complaints(CataloguePlaces(tmp_path / "catalogue.yaml"))
    assert f"`{first}`" in PAGE.text


@pytest.mark.parametrize(
    ("given", "aspects"),
    [
        ({"food": 7.0}, ASPECTS),
        ({"nois": 3.0}, ("price", "noise", "cleaning")),
    ],
)
def test_what_is_no_preference_is_refused_as_shown(given, aspects):
    with pytest.raises(AppError) as refused:
        checked(given, aspects)
    assert str(refused.value) in shown("The preference for").splitlines()


@pytest.mark.parametrize(
    ("question", "aspect", "weight"),
    [
        ("friendly staff", "service", 0.9),
        ("분위기 좋은 곳", "ambience", 0.9),
        ("friendly staff if possible", "service", 0.6),
        ("되도록 분위기 좋은 카페", "ambience", 0.6),
        ("できれば静かなカフェ", "ambience", 0.6),
        ("the price doesn't matter", "price", 0.1),
        ("비싸도 괜찮으니 이탈리안", "price", 0.1),
        ("値段は気にしない", "price", 0.1),
        ("wait, is there sushi?", "waiting", 0.9),
        ("a loud bar", "ambience", 0.9),
        ("Italian", "ambience", None),
    ],
)
def test_an_aspect_weighs_what_the_page_says(question, aspect, weight):
    assert sample_rules().analyse(question).aspect_weights[aspect] == weight


def test_filters_are_understood_as_the_page_says():
    rules = sample_rules()
    for denied in ("not sushi", "스시 말고", "寿司以外"):
        filters = rules.analyse(denied).filters
        assert (filters.desired_types, filters.declined_types) == (None, ("sushi_restaurant",))
    assert rules.analyse("not a sushi bar").filters.declined_types == ("sushi_restaurant",)
    for open_ in ("it doesn't have to be sushi", "스시 아니어도 돼", "寿司じゃなくてもいい"):
        assert rules.analyse(open_).filters == CatalogueFilters()
    assert not rules.analyse("not Queens").filters.fields
    for several in ("in Brooklyn or Queens", "브루클린이나 퀸즈", "ブルックリンかクイーンズ"):
        assert rules.analyse(several).filters.fields == {"borough_en": ("Brooklyn", "Queens")}
    stay = rules.analyse("we stay in Queens but want to eat in Manhattan")
    assert stay.filters.fields == {"borough_en": "Manhattan"}
    assert rules.analyse("in Brookyln").filters.fields == {"borough_en": "Brooklyn"}
    assert rules.analyse("what do Korean reviewers like").filters.desired_types is None
    for least in ("rated above 4", "4점 이상", "星4以上"):
        assert rules.analyse(least).filters.min_rating == 4
    assert rules.analyse("un ristorante a Brooklyn").filters.fields == {"borough_en": "Brooklyn"}
    told = rules.analyse("분위기 좋은 이탈리안").query_en
    assert f"*{told}*" in " ".join(PAGE.text.split())


def test_the_limits_of_the_words_are_as_told():
    lexicon = Lexicon(tuple(map(Aspect, ASPECTS)))

    def praised(text):
        return {one.aspect for one in lexicon.mentions(text) if one.praises}

    assert "service" in praised("wonderful service, if you enjoy being ignored")
    assert not praised("better service than next door")


def test_the_settings_and_the_formula_have_the_defaults_that_are_shown():
    table = re.findall(r"^\| `FOOTNOTE_(CATALOGUE_\w+)` \| ([\d.]+) \|", PAGE.text, re.MULTILINE)
    defaults = {
        name: one.default
        for name, one in Settings.model_fields.items()
        if name.startswith("catalogue_")
    }
    assert {name.lower(): float(value) for name, value in table} == defaults
    hybrid, sure, kind, crossed, praise = DEFAULT_WEIGHTS
    formula = f"{hybrid} S_hybrid + {sure} S_conf + {kind} S_type + {crossed} S_ce"
    assert f"Score = {formula}." in PAGE.text
    assert f"{praise} S_aspects stands in for it." in PAGE.text
    assert f"m = {PRAISE_PRIOR_WEIGHT:g} the" in PAGE.text
    assert f"m = {EngineOptions().prior_weight:g} the" in PAGE.text


def test_the_notices_of_a_missing_cross_encoder_are_those_of_the_table():
    told = re.findall(r"^\| `(No reranker .*?)` \|", PAGE.text, re.MULTILINE)
    assert len(told) == 2
    assert PRAISE_INSTEAD.startswith(told[0])
    assert NO_CROSS_ENCODER.startswith(told[1])
