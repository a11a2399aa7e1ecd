"""The catalog and the programs of docs/catalog.md."""

import re

import pytest

from domain import ASPECTS, Aspect, CatalogFilters, DocumentRef, Skipped
from domain.errors import AppError, SourceError
from loaders.catalog.catalog_description import description_of, read_description
from loaders.catalog.catalog_places import CatalogPlaces
from services.catalog.lexicon import Lexicon
from services.catalog.place_scores import (
    DEFAULT_WEIGHTS,
    NO_CROSS_ENCODER,
    PRAISE_INSTEAD,
    PRAISE_PRIOR_WEIGHT,
)
from services.catalog.place_search import EngineOptions
from services.catalog.preferences import validate_preferences
from services.catalog.rule_analyzer import RuleAnalyzer
from settings import Settings
from tests.docs_examples import Page, desk_over_handbook
from tests.fakes.command_line import ROOT

pytestmark = pytest.mark.slow

PAGE = Page("catalog.md")
FILES = dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE.text, re.MULTILINE | re.DOTALL))
OUTPUTS = re.findall(r"^```text\n(.*?)^```$", PAGE.text, re.MULTILINE | re.DOTALL)
LAST_REVIEW = FILES["reviews.csv"].splitlines()[-1]


@pytest.fixture(scope="module")
def desk(tmp_path_factory, model_cache):
    """A reader's folder with the page's programs, and its catalog in `~/machines`."""
    desk = desk_over_handbook(PAGE, tmp_path_factory, model_cache)
    write(desk.folder / "machines", FILES)
    return desk


@pytest.fixture
def list_messages(tmp_path):
    """Messages about the page's catalog with one change, from listing and reading it."""

    def messages(file, old, new):
        assert old in FILES[file]
        write(tmp_path, FILES | {file: FILES[file].replace(old, new, 1)})
        return list(messages_about(CatalogPlaces(tmp_path / "catalog.yaml")))

    return messages


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def messages_about(places):
    try:
        for item in places.list():
            if isinstance(item, Skipped):
                yield item.reason
            elif isinstance(item, DocumentRef):
                yield from places.read(item).metadata["warnings"]
    except SourceError as error:
        yield str(error)


def sample_rules():
    path = ROOT / "samples" / "catalogs" / "restaurants" / "catalog.yaml"
    return RuleAnalyzer(description_of(read_description(path)))


def documented_block(beginning):
    [block] = [text for text in OUTPUTS if text.startswith(beginning)]
    return block


def without_digits(text):
    """Vectors are rounded differently on other processors."""
    return re.sub(r"\d\.\d\d\b", "#", text).splitlines()


def test_the_documented_catalog_is_imported_and_answers_as_shown(desk):
    output = desk.sh(PAGE.command("~/machines"))
    imported, _, answer = output.partition("\n")
    assert imported.startswith("Import completed: 3 new")
    answer = answer.replace(f"({desk.folder}/", "(~/")
    assert without_digits(answer) == without_digits(documented_block("These places fit best"))


def test_the_documented_text_of_a_place_is_correct(tmp_path):
    write(tmp_path, FILES)
    places = CatalogPlaces(tmp_path / "catalog.yaml")
    assert places.read(next(places.list())).page_content.startswith(
        documented_block("# Alba One").strip()
    )


@pytest.mark.parametrize("program", ["weights.py", "score.py"])
def test_each_program_prints_the_documented_output(desk, program):
    below = PAGE.text.split(PAGE.programs[program])[1].split("```text\n")[1].split("```")[0]
    assert desk.python(program) == below


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("catalog.yaml", "title: name", "title: nme"),
        ("catalog.yaml", "facts:", "factz:"),
        ("catalog.yaml", "id: model\n", ""),
        ("catalog.yaml", "machines.csv", "machines.xlsx"),
        ("catalog.yaml", "  price: {}", "  weight: {}"),
        ("catalog.yaml", "  maker:", "  min_rating:"),
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
def test_bad_data_gives_the_documented_messages(list_messages, file, old, new):
    messages = list_messages(file, old, new)
    quoted = [re.escape(one) for one in re.findall(r"\| `(.+)` \|", PAGE.text)]
    templates = [one.replace("…", ".*") for one in quoted]
    assert any(re.fullmatch(one, messages[0]) for one in templates), messages[0]


def test_a_nan_rating_gives_the_documented_message(tmp_path):
    description = FILES["catalog.yaml"].replace(", power_w", "")
    rated = description.replace("{scale: 10}", "{column: stars, scale: 10}")
    rows = FILES["machines.csv"].replace("power_w", "stars").replace(",1200", ",NaN")
    write(tmp_path, FILES | {"catalog.yaml": rated, "machines.csv": rows})
    [first, *_] = messages_about(CatalogPlaces(tmp_path / "catalog.yaml"))
    assert f"`{first}`" in PAGE.text


@pytest.mark.parametrize(
    ("preference", "aspects"),
    [
        ({"food": 7.0}, ASPECTS),
        ({"nois": 3.0}, ("price", "noise", "cleaning")),
    ],
)
def test_an_invalid_preference_gives_the_documented_message(preference, aspects):
    with pytest.raises(AppError) as caught:
        validate_preferences(preference, aspects)
    assert str(caught.value) in documented_block("The preference for").splitlines()


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
def test_the_documented_weights_are_correct(question, aspect, weight):
    assert sample_rules().analyze(question).aspect_weights[aspect] == weight


def test_the_documented_filters_are_correct():
    rules = sample_rules()
    for denied in ("not sushi", "스시 말고", "寿司以外"):
        filters = rules.analyze(denied).filters
        assert (filters.desired_types, filters.declined_types) == (None, ("sushi_restaurant",))
    assert rules.analyze("not a sushi bar").filters.declined_types == ("sushi_restaurant",)
    for optional in ("it doesn't have to be sushi", "스시 아니어도 돼", "寿司じゃなくてもいい"):
        assert rules.analyze(optional).filters == CatalogFilters()
    assert not rules.analyze("not Queens").filters.fields
    for several in ("in Brooklyn or Queens", "브루클린이나 퀸즈", "ブルックリンかクイーンズ"):
        assert rules.analyze(several).filters.fields == {"borough_en": ("Brooklyn", "Queens")}
    stay = rules.analyze("we stay in Queens but want to eat in Manhattan")
    assert stay.filters.fields == {"borough_en": "Manhattan"}
    assert rules.analyze("in Brookyln").filters.fields == {"borough_en": "Brooklyn"}
    assert rules.analyze("what do Korean reviewers like").filters.desired_types is None
    for least in ("rated above 4", "4점 이상", "星4以上"):
        assert rules.analyze(least).filters.min_rating == 4
    assert rules.analyze("un ristorante a Brooklyn").filters.fields == {"borough_en": "Brooklyn"}
    query = rules.analyze("분위기 좋은 이탈리안").query_en
    assert f"*{query}*" in " ".join(PAGE.text.split())


def test_the_documented_limits_of_the_word_lists_are_correct():
    lexicon = Lexicon(tuple(map(Aspect, ASPECTS)))

    def praised(text):
        return {one.aspect for one in lexicon.mentions(text) if one.praises}

    assert "service" in praised("wonderful service, if you enjoy being ignored")
    assert not praised("better service than next door")


def test_the_documented_settings_and_formula_match_the_code():
    table = re.findall(r"^\| `FOOTNOTE_(CATALOGUE_\w+)` \| ([\d.]+) \|", PAGE.text, re.MULTILINE)
    defaults = {
        name: one.default
        for name, one in Settings.model_fields.items()
        if name.startswith("catalogue_")
    }
    assert defaults
    assert {name.lower(): float(value) for name, value in table} == defaults
    hybrid, sure, kind, crossed, praise = DEFAULT_WEIGHTS
    formula = f"{hybrid} S_hybrid + {sure} S_conf + {kind} S_type + {crossed} S_ce"
    assert f"Score = {formula}." in PAGE.text
    assert f"{praise} S_aspects replaces it." in PAGE.text
    assert f"m = {PRAISE_PRIOR_WEIGHT:g} is the" in PAGE.text
    assert f"m = {EngineOptions().prior_weight:g} is the" in PAGE.text


def test_the_documented_notices_about_the_cross_encoder_are_correct():
    notices = re.findall(r"^\| `(No reranker .*?)` \|", PAGE.text, re.MULTILINE)
    assert len(notices) == 2
    assert PRAISE_INSTEAD.startswith(notices[0])
    assert NO_CROSS_ENCODER.startswith(notices[1])
