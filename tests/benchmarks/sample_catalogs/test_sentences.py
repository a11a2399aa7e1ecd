"""Clauses become reviews that read like those of people."""

import re

import pytest

from benchmarks.sample_catalogs.homes import ASPECTS as HOME_ASPECTS
from benchmarks.sample_catalogs.restaurant_reviews import restaurant_reviews
from benchmarks.sample_catalogs.sentences import (
    Clause,
    chance,
    english,
    fill,
    korean,
    styled,
    with_particles,
)
from benchmarks.sample_catalogs.words import sections
from domain import ASPECTS


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("feeling", ["good", "bad"])
def test_an_opinion_of_a_restaurant_has_at_least_25_phrasings(language, aspect, feeling):
    assert len(set(sections(f"restaurant_reviews_{language}")[f"{aspect} {feeling}"])) >= 25


@pytest.mark.parametrize(("language", "least"), [("en", 14), ("ja", 8)])
@pytest.mark.parametrize("aspect", HOME_ASPECTS)
@pytest.mark.parametrize("feeling", ["good", "bad"])
def test_an_opinion_of_a_home_has_many_phrasings(language, least, aspect, feeling):
    assert len(set(sections(f"home_reviews_{language}")[f"{aspect} {feeling}"])) >= least


@pytest.mark.parametrize(
    ("polite", "noting", "reporting", "to_friends"),
    [
        ("맛있었어요", "맛있었음", "맛있었습니다", "맛있었어"),
        ("깨끗하네요", "깨끗함", "깨끗하네요", "깨끗하네"),
        ("맛있네요", "맛있음", "맛있네요", "맛있네"),
        ("힘들더라고요", "힘듦", "힘들더라고요", "힘들더라"),
        ("최고예요", "최고임", "최고입니다", "최고야"),
        ("없어요", "없음", "없습니다", "없어"),
    ],
)
def test_a_polite_clause_can_be_rewritten_in_other_styles(polite, noting, reporting, to_friends):
    variants = [styled(polite, style) for style in ("polite", "noting", "reporting", "to friends")]
    assert variants == [polite, noting, reporting, to_friends]


def test_a_particle_agrees_with_the_preceding_syllable():
    assert (
        with_particles("냉면은/는 갈비이/가 국밥을/를 피자을/를") == "냉면은 갈비가 국밥을 피자를"
    )


def test_every_korean_phrase_can_be_rewritten_in_the_noting_style():
    for name, phrases in sections("restaurant_reviews_ko").items():
        for phrase in [] if name.startswith("turn") else phrases:
            assert styled(phrase, "noting") != phrase


def test_a_phrase_is_filled_with_one_of_its_alternatives_and_the_words():
    phrases = {
        fill(chance(seed), "the {dish} was (good|fine)", {"dish": "pho"}) for seed in range(30)
    }
    assert phrases == {"the pho was good", "the pho was fine"}


def test_praise_and_criticism_are_joined_by_but_and_never_by_and():
    clauses = [Clause("the food was great", praises=True), Clause("it was loud", praises=False)]
    reviews = [
        english(chance(seed), "", clauses, "", "restaurant_reviews_en") for seed in range(50)
    ]
    assert any(" but it was loud" in text for text in reviews)
    assert not any(" and it was loud" in text for text in reviews)


def test_the_korean_conjunction_depends_on_whether_both_clauses_praise():
    alike = [Clause("맛있었어요", praises=True), Clause("친절했어요", praises=True)]
    mixed = [Clause("맛있었어요", praises=True), Clause("시끄러웠어요", praises=False)]
    joined = [korean(chance(seed), "", alike, "", "restaurant_reviews_ko") for seed in range(50)]
    contrasted = [
        korean(chance(seed), "", mixed, "", "restaurant_reviews_ko") for seed in range(50)
    ]
    assert any("맛있었고 친절" in text for text in joined)
    assert any("맛있었는데 시끄러" in text for text in contrasted)
    assert not any("맛있었고 시끄러" in text for text in contrasted)


def test_no_review_contains_a_placeholder_or_an_alternative():
    for review in restaurant_reviews():
        assert not re.search(r"[{}|()]|은/는|이/가|을/를", review.text), review
