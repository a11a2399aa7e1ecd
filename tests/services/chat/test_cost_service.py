from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import EXTRACTIVE, Turn, TurnState
from services.chat.conversation_service import CostService

PRICED = CostService("qwen3", 2.0, 10.0, "EUR")


def turn(model="qwen3", **usage):
    return Turn(
        "t",
        "c",
        "How?",
        TurnState.COMPLETE,
        datetime(2026, 11, 21, tzinfo=UTC),
        model=model,
        usage=usage,
    )


def test_an_answer_costs_its_tokens_at_the_price_per_million():
    cost = PRICED.of([turn(input_tokens=1_000_000, output_tokens=100_000)])
    assert (cost.input_tokens, cost.output_tokens) == (1_000_000, 100_000)
    assert cost.amount == pytest.approx(2 + 1)
    assert cost.currency == "EUR"


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))))
def test_the_cost_of_a_conversation_is_the_sum_of_its_answers(usages):
    turns = [turn(input_tokens=sent, output_tokens=generated) for sent, generated in usages]
    assert PRICED.of(turns).amount == pytest.approx(sum(PRICED.of([one]).amount for one in turns))


def test_the_built_in_answerer_is_free():
    assert CostService(EXTRACTIVE).of([turn(EXTRACTIVE)]).amount == 0


@pytest.mark.parametrize(
    ("prices", "paid"),
    [
        (CostService("qwen3"), turn(input_tokens=5, output_tokens=5)),
        (CostService("qwen3", 2.0, None), turn(input_tokens=5, output_tokens=5)),
        (CostService("qwen3", 2.0, 10.0), turn("gpt-5-mini", input_tokens=5, output_tokens=5)),
        (CostService("qwen3", 2.0, 10.0), turn()),
    ],
    ids=["no price", "half a price", "another model", "no tokens counted"],
)
def test_a_model_without_a_price_is_not_reported_as_free(prices, paid):
    with_free = [turn(EXTRACTIVE), paid]
    assert prices.of(with_free).amount is None
