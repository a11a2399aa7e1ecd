from collections import Counter

import pytest

from domain import ASPECTS
from samples.catalogs.label_questions import QUESTIONS, labeled_questions
from samples.catalogs.restaurants import BOROUGHS, restaurants
from services.evaluation.catalog_figures import load_catalog_questions


@pytest.fixture(scope="module")
def questions():
    return load_catalog_questions(QUESTIONS)


def test_the_acceptable_places_are_those_that_follow_from_the_labels():
    told = "write them anew with python -m samples.catalogs.label_questions"
    assert QUESTIONS.read_text(encoding="utf-8") == labeled_questions(), told


def test_there_are_twenty_questions_in_each_language_and_none_twice(questions):
    assert Counter(one.language for one in questions) == {"ko": 20, "en": 20, "ja": 20}
    assert len({one.id for one in questions}) == len({one.text for one in questions}) == 60


def test_the_labels_name_only_what_the_catalog_has(questions):
    types = {type_ for place in restaurants() for type_ in place.types}
    for one in questions:
        assert set(one.filters.fields.values()) <= set(BOROUGHS), one.id
        assert set(one.filters.desired_types or ()) <= types, one.id
        assert set(one.unwanted) <= types | set(BOROUGHS), one.id
        assert set(one.aspects) <= set(ASPECTS), one.id


def test_nearly_every_question_is_answered_by_some_place(questions):
    unanswered = [one.id for one in questions if not one.acceptable]
    assert len(unanswered) <= 6, unanswered
