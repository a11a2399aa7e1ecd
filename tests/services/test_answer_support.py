"""How far stored answers rest on the documents, for every answerer."""

from dataclasses import replace

import pytest

from chains.extractive.extractive_answerer import no_clear_answer
from domain import EXTRACTIVE, CitationState, Turn, TurnState
from services.answer_support import Support, offers_nearest, support_of
from tests.pages.double import NOW, citation, source

MODEL = "a chat model"
NOTHING = {
    "english": "The documents do not say how much it costs.",
    "korean": "문서에서 이 내용을 찾을 수 없습니다.",
    "japanese": "この情報は文書に記載されていません。",
}
LOST = citation(1, CitationState.NOT_FOUND)


def turn(**changes):
    base = Turn("t1", "c1", "Why?", TurnState.COMPLETE, NOW, standalone_question="Why so?")
    return replace(base, **changes)


@pytest.mark.parametrize("model", [EXTRACTIVE, MODEL])
def test_one_verified_citation_supports_an_answer(model):
    answered = turn(answer="Yes. [1]", model=model, sources=(source(),), citations=(citation(),))
    assert support_of(answered) is Support.VERIFIED
    assert support_of(replace(answered, citations=(LOST, citation()))) is Support.VERIFIED
    assert support_of(replace(answered, citations=(LOST,))) is Support.UNSUPPORTED


@pytest.mark.parametrize("question", ["Why?", "왜요?", "なぜですか？"])
@pytest.mark.parametrize("sources", [(), (source(),)], ids=["no passages", "passages"])
@pytest.mark.parametrize("model", [EXTRACTIVE, MODEL])
def test_the_built_in_sentence_says_that_nothing_was_found(question, sources, model):
    # A model's answer contains it if the model wrote nothing usable.
    unanswered = turn(answer=no_clear_answer(question), model=model, sources=sources)
    assert support_of(unanswered) is Support.NOTHING_FOUND
    assert offers_nearest(unanswered) is bool(sources)


@pytest.mark.parametrize("answer", NOTHING.values(), ids=list(NOTHING))
def test_a_model_may_say_that_nothing_was_found(answer):
    unanswered = turn(answer=answer, model=MODEL, sources=(source(),))
    assert support_of(unanswered) is Support.NOTHING_FOUND
    assert offers_nearest(unanswered)


@pytest.mark.parametrize(
    "answer",
    [
        "It costs 25 euros a month.",
        "25.",
        "The documents do not say how much it costs. It usually costs 25 euros.",
    ],
)
def test_a_claim_without_a_citation_is_unsupported(answer):
    unsupported = turn(answer=answer, model=MODEL, sources=(source(),))
    assert support_of(unsupported) is Support.UNSUPPORTED
    assert not offers_nearest(unsupported)


@pytest.mark.parametrize("answer", [*NOTHING.values(), "**The model wrote no answer.**"])
def test_an_answer_that_ended_early_says_nothing_about_the_documents(answer):
    ended = turn(answer=answer, model=MODEL, sources=(source(),), error="Too long.")
    assert support_of(ended) is Support.NO_CLAIM
    assert support_of(replace(ended, unsupported_sentences=1, answer="25 euros, I think.")) is (
        Support.UNSUPPORTED
    )


def test_a_claim_without_passages_is_unsupported():
    claim = turn(answer="It costs 25 euros.", model=MODEL, unsupported_sentences=1)
    assert support_of(claim) is Support.UNSUPPORTED


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": "Hello!", "model": EXTRACTIVE, "standalone_question": ""},
        {"answer": "Hello!", "model": MODEL},
        {"answer": "", "model": EXTRACTIVE, "sources": (source(),), "state": TurnState.STOPPED},
        {"answer": "", "model": "", "sources": (source(),), "state": TurnState.RUNNING},
    ],
)
def test_a_greeting_and_a_missing_answer_need_no_support(changes):
    assert support_of(turn(**changes)) is Support.NO_CLAIM
    assert not offers_nearest(turn(**changes))
