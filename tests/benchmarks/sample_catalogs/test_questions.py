from collections import Counter

import pytest

from benchmarks.sample_catalogs.label_questions import QUESTIONS, labeled_questions
from benchmarks.sample_catalogs.restaurants import BOROUGHS, restaurants
from domain import ASPECTS
from services.evaluation.catalog_figures import load_catalog_questions


@pytest.fixture(scope="module")
def questions():
    return load_catalog_questions(QUESTIONS)


def test_the_committed_acceptable_places_follow_from_the_labels():
    hint = "write them again with python -m benchmarks.sample_catalogs.label_questions"
    assert QUESTIONS.read_text(encoding="utf-8") == labeled_questions(), hint


def test_there_are_20_unique_questions_in_each_language(questions):
    assert Counter(one.language for one in questions) == {"ko": 20, "en": 20, "ja": 20}
    assert len({one.id for one in questions}) == len({one.text for one in questions}) == 60


def test_labels_use_only_types_fields_and_aspects_of_the_catalog(questions):
    types = {type_ for place in restaurants() for type_ in place.types}
    for one in questions:
        assert set(one.filters.fields.values()) <= set(BOROUGHS), one.id
        assert set(one.filters.desired_types or ()) <= types, one.id
        assert set(one.unwanted) <= types | set(BOROUGHS), one.id
        assert set(one.aspects) <= set(ASPECTS), one.id


def test_at_most_6_questions_have_no_acceptable_place(questions):
    unanswered = [one.id for one in questions if not one.acceptable]
    assert len(unanswered) <= 6, unanswered
