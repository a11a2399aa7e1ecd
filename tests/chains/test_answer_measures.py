"""Measures of how well the best sentence answers the question."""

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from chains.extractive.answer_decision import (
    ALL_MATCHED,
    MOST_MARGIN,
    NO_RIVAL,
    cosine,
    measures_of,
)
from chains.extractive.sentence_scores import score_sentences

SHARES = {"passage", "sentence", "share", "lacking"}


class Letters(Embeddings):
    """A text's vector counts three letters."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(text.count(letter)) for letter in "eao"]


def alike(words):
    return dict.fromkeys(words, 1.0)


def passage(text, score=None, **metadata):
    parts = [] if score is None else [{"ranker": "dense", "score": score}]
    return Document(text, metadata={"parts": parts, **metadata})


def measure(question, *documents, typed=None, idf=alike, embeddings=None):
    sentences = score_sentences(question, documents)
    return measures_of(question, typed or question, documents, sentences, idf, embeddings)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which port does the gateway use?", "The gateway uses the port 51820."),
        ("게이트웨이 포트 번호", "게이트웨이 포트 번호는 51820입니다."),
        ("接続口の番号", "接続口の番号は51820です。"),
    ],
)
def test_a_sentence_with_all_words_of_the_question_has_full_shares(question, text):
    result = measure(question, passage(text))
    assert (result.passage, result.sentence, result.lacking) == (1, 1, 0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many anchors does the ferry carry?", "The ferry carries cars and bicycles."),
        ("여객선에는 닻이 몇 개 있나요?", "여객선은 자동차와 자전거를 싣습니다."),
        ("連絡船の錨は何個ですか。", "連絡船は自動車と自転車を運ぶ。"),
    ],
)
def test_a_sentence_about_the_subject_alone_has_a_partial_share_and_lacks_the_number(
    question, text
):
    result = measure(question, passage(text))
    assert 0 < result.passage < 1
    assert result.lacking == 1


def test_a_number_that_condensing_added_to_a_follow_up_may_be_the_answer():
    question, text = "How many lines has the harbor, 12 piers?", "The harbor has 12 lines."
    assert measure(question, passage(text)).lacking == 1
    assert measure(question, passage(text), typed="How many lines?").lacking == 0


def test_rare_words_count_more_than_common_ones():
    def rare(words):
        return {word: 9.0 if word.startswith("anchor") else 1.0 for word in words}

    common = measure("anchor of the ferry", passage("The ferry is white."), idf=alike).passage
    assert measure("anchor of the ferry", passage("The ferry is white."), idf=rare).passage < common


def test_headings_count_for_the_passage_and_titles_also_for_the_sentence():
    text = "It leaves at nine."
    bare = measure("Harbor ferry", passage(text))
    below = measure("Harbor ferry", passage(text, heading_path=["Harbor", "Ferry"]))
    entitled = measure("Harbor ferry", passage(text, title="Harbor ferry"))
    assert (bare.passage, below.passage, entitled.passage) == (0, 1, 1)
    assert (bare.sentence, below.sentence, entitled.sentence) == (0, 0, 1)


def test_without_an_embedding_the_measures_of_meaning_are_neutral():
    result = measure("anchor of the ferry", passage("The ferry is white."))
    assert (result.cosine, result.alone, result.nearest, result.unmatched) == (0, 0, 0, ALL_MATCHED)


def test_the_sentence_alone_is_compared_with_the_question():
    question, text = "eee a", "One eea too."
    result = measure(question, passage(text), embeddings=Letters())
    embed = Letters().embed_query
    assert result.alone == pytest.approx(cosine(embed(question), embed(text)))


@pytest.mark.parametrize(
    ("scores", "margin"),
    [([0.5], 0), ([0.5, 0.4], 0.1), ([0.4, 0.5, 0.1], 0.1), ([0.9, 0.1], MOST_MARGIN), ([], 0)],
)
def test_the_margin_between_the_two_nearest_passages_is_bounded(scores, margin):
    documents = [passage("The ferry is white.", score) for score in scores]
    result = measure("ferry", *documents, passage("The ferry is white."))
    assert result.margin == pytest.approx(margin)


def test_the_lead_is_measured_against_the_nearest_passage_in_another_script():
    own, foreign = passage("The ferry is white.", 0.6), passage("여객선은 하얗다.", 0.4)
    assert measure("ferry", own, foreign).lead == pytest.approx(0.2)
    assert measure("ferry", own, own).lead == NO_RIVAL


@given(st.text(min_size=1, max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_measures_of_arbitrary_texts_are_finite_and_bounded(question, texts):
    documents = [passage(text, 0.5) for text in texts]
    if not (sentences := score_sentences(question, documents)):
        return
    result = measures_of(question, question, documents, sentences, alike, Letters())
    assert all(math.isfinite(value) for value in astuple(result))
    assert all(0 <= getattr(result, name) <= 1 + 1e-9 for name in SHARES)
    assert all(abs(value) <= 1 + 1e-9 for value in (result.alone, result.unmatched))


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=5), st.floats(1e-2, 1e2))
def test_the_cosine_does_not_depend_on_the_length_of_the_vectors(vector, factor):
    longer = [factor * value for value in vector]
    assert cosine(vector, longer) == pytest.approx(float(math.hypot(*vector) > 0), abs=1e-6)
    assert cosine(vector, [0.0] * len(vector)) == 0
