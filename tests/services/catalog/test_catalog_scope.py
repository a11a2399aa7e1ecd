from pathlib import Path

import pytest

from domain import CatalogFilters, CatalogQuery, Place, PlaceHit, PlacePassage
from loaders.catalog.catalog_description import description_of, read_description
from services.catalog import catalog_scope, word_finder
from services.catalog.catalog_scope import is_about_places
from services.catalog.rule_analyzer import RuleAnalyzer
from tests.services.catalog.about_questions import TEST, TUNE, labeled

SAMPLE = Path(__file__).parents[3] / "samples" / "catalogs" / "restaurants" / "catalog.yaml"


@pytest.fixture(scope="module")
def rules():
    return RuleAnalyzer(description_of(read_description(SAMPLE)))


def errors_in(questions, rules):
    """The number of questions about places that are refused, and of others that are not.

    No passages are retrieved, so the words of the catalog's texts do not help.
    """
    wrong = [
        is_about
        for question, is_about in labeled(questions)
        if is_about_places(rules.analyze(question), ()) is not is_about
    ]
    return sum(wrong), len(wrong) - sum(wrong)


@pytest.mark.parametrize(("questions", "errors"), [(TUNE, (1, 0)), (TEST, (0, 4))])
def test_few_questions_are_judged_wrongly(questions, errors, rules):
    assert errors_in(questions, rules) == errors


def hit(title="Trattoria Lucia", text="Homemade noodles with black truffles."):
    place = Place("d1", "c1", "p1", title)
    return PlaceHit(place, 1.0, (), (PlacePassage("1", 0, len(text), text),))


@pytest.mark.parametrize(
    ("question", "is_about"),
    [
        ("black truffles", True),
        ("black holes and stars", False),
        ("When does Trattoria Lucia open?", True),
        ("When does the library open?", False),
    ],
)
def test_words_and_names_of_retrieved_places_count(question, is_about):
    assert is_about_places(CatalogQuery(question, ""), [hit()]) is is_about


@pytest.mark.parametrize(
    ("name", "question", "is_named"),
    [
        ("Rice", "When does Rice open?", True),
        ("Rice", "Rice는 언제 여나요?", True),
        ("Rice", "Why did the price of oil rise?", False),
        ("Rice", "When was the price of Rice set?", True),
        ("Lucia", "Who is Saint Lucian?", False),
        ("스시", "스시에는 누가 가나요?", True),
        ("스시", "누가 오스시를 만들었나요?", False),
        ("鮨銀", "鮨銀はいつ開店ですか？", True),
        ("鮨", "鮨とは何ですか？", False),
        ("스시", "누가 스시24를 만들었나요?", False),
        ("Роза", "Когда открылась Роза?", True),
        ("Роза", "Почему прозаик исчез?", False),
    ],
)
def test_the_name_of_a_place_counts_only_as_whole_words(name, question, is_named):
    assert is_about_places(CatalogQuery(question, ""), [hit(name)]) is is_named


def test_recognizing_names_compiles_no_patterns(monkeypatch):
    query = CatalogQuery("When does the Lucia 4 open?", "")
    is_about_places(query, [hit()])
    monkeypatch.setattr(catalog_scope, "re", None)
    monkeypatch.setattr(word_finder, "re", None)
    assert is_about_places(query, [hit(f"Lucia {n}") for n in range(20)])


def test_a_request_for_a_fact_needs_two_kinds_of_recognized_words():
    one = CatalogQuery("Who invented it?", "", CatalogFilters(desired_types=("bar",)))
    two = CatalogQuery("Who serves it?", "", CatalogFilters({"borough": "Queens"}, ("bar",)))
    assert not is_about_places(one, ())
    assert is_about_places(two, ())
