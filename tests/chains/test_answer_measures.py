"""What the best sentence says about whether it answers the question."""

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


def passage(text, found=None, **metadata):
    parts = [] if found is None else [{"ranker": "dense", "score": found}]
    return Document(text, metadata={"parts": parts, **metadata})


def measured(question, *documents, typed=None, idf=alike, embeddings=None):
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
def test_a_sentence_in_the_words_of_the_question_holds_all_of_them(question, text):
    found = measured(question, passage(text))
    assert (found.passage, found.sentence, found.lacking) == (1, 1, 0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many anchors does the ferry carry?", "The ferry carries cars and bicycles."),
        ("여객선에는 닻이 몇 개 있나요?", "여객선은 자동차와 자전거를 싣습니다."),
        ("連絡船の錨は何個ですか。", "連絡船は自動車と自転車を運ぶ。"),
    ],
)
def test_a_sentence_about_the_thing_alone_holds_a_part_and_lacks_the_number(question, text):
    found = measured(question, passage(text))
    assert 0 < found.passage < 1
    assert found.lacking == 1


def test_a_number_that_condensing_added_to_a_follow_up_may_be_the_answer():
    question, text = "How many lines has the harbor, 12 piers?", "The harbor has 12 lines."
    assert measured(question, passage(text)).lacking == 1
    assert measured(question, passage(text), typed="How many lines?").lacking == 0


def test_rare_words_count_more_than_common_ones():
    def rare(words):
        return {word: 9.0 if word.startswith("anchor") else 1.0 for word in words}

    common = measured("anchor of the ferry", passage("The ferry is white."), idf=alike).passage
    assert (
        measured("anchor of the ferry", passage("The ferry is white."), idf=rare).passage < common
    )


def test_headings_count_for_the_passage_and_the_title_for_the_sentence_too():
    text = "It leaves at nine."
    bare = measured("Harbor ferry", passage(text))
    below = measured("Harbor ferry", passage(text, heading_path=["Harbor", "Ferry"]))
    entitled = measured("Harbor ferry", passage(text, title="Harbor ferry"))
    assert (bare.passage, below.passage, entitled.passage) == (0, 1, 1)
    assert (bare.sentence, below.sentence, entitled.sentence) == (0, 0, 1)


def test_without_an_embedding_nothing_is_known_of_meaning():
    found = measured("anchor of the ferry", passage("The ferry is white."))
    assert (found.cosine, found.alone, found.nearest, found.unmatched) == (0, 0, 0, ALL_MATCHED)


def test_the_sentence_is_compared_alone_with_the_question():
    question, text = "eee a", "One eea too."
    found = measured(question, passage(text), embeddings=Letters())
    embed = Letters().embed_query
    assert found.alone == pytest.approx(cosine(embed(question), embed(text)))


@pytest.mark.parametrize(
    ("found", "margin"),
    [([0.5], 0), ([0.5, 0.4], 0.1), ([0.4, 0.5, 0.1], 0.1), ([0.9, 0.1], MOST_MARGIN), ([], 0)],
)
def test_the_margin_is_that_of_the_two_nearest_passages_and_bounded(found, margin):
    documents = [passage("The ferry is white.", one) for one in found]
    result = measured("ferry", *documents, passage("The ferry is white."))
    assert result.margin == pytest.approx(margin)


def test_the_lead_is_over_the_nearest_passage_in_another_script():
    own, foreign = passage("The ferry is white.", 0.6), passage("여객선은 하얗다.", 0.4)
    assert measured("ferry", own, foreign).lead == pytest.approx(0.2)
    assert measured("ferry", own, own).lead == NO_RIVAL


@given(st.text(min_size=1, max_size=60), st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_shares_of_any_texts_are_within_their_bounds(question, texts):
    documents = [passage(text, 0.5) for text in texts]
    if not (sentences := score_sentences(question, documents)):
        return
    found = measures_of(question, question, documents, sentences, alike, Letters())
    assert all(math.isfinite(value) for value in astuple(found))
    assert all(0 <= getattr(found, name) <= 1 + 1e-9 for name in SHARES)
    assert all(abs(value) <= 1 + 1e-9 for value in (found.alone, found.unmatched))


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=5), st.floats(1e-2, 1e2))
def test_a_cosine_does_not_depend_on_the_length(vector, factor):
    longer = [factor * value for value in vector]
    assert cosine(vector, longer) == pytest.approx(float(math.hypot(*vector) > 0), abs=1e-6)
    assert cosine(vector, [0.0] * len(vector)) == 0
