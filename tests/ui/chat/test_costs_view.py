"""The line below an answer with its model, duration, token counts, and price."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from domain import EXTRACTIVE, Turn, TurnState
from services.chat.conversation_service import CostService
from ui.chat import answer_view
from ui.text import words

TIMES = {"found": 100.0, "first_token": 1500.0, "total": 4200.0}
USAGE = {"input_tokens": 12_345, "output_tokens": 678}


def turn(model="qwen3", usage=USAGE, timings=TIMES):
    return Turn(
        "t",
        "c",
        "How?",
        TurnState.COMPLETE,
        datetime(2026, 11, 21, tzinfo=UTC),
        model=model,
        usage=usage,
        timings_ms=timings,
    )


@pytest.fixture
def lines(monkeypatch):
    html = []
    monkeypatch.setattr(answer_view.st, "html", html.append)
    return html


def services(*prices):
    return SimpleNamespace(costs=CostService("qwen3", *prices))


def test_an_answer_shows_its_model_times_tokens_and_price(lines):
    answer_view.show_cost(services(2.0, 10.0, "EUR"), turn())
    assert "<span>qwen3</span><span>first words after 1.5 s</span>" in lines[0]
    assert "<span>4.2 s in total</span><span>12,345 tokens in, 678 out</span>" in lines[0]
    assert "<span>EUR 0.0315</span>" in lines[0]


def test_a_tiny_price_is_not_shown_as_zero(lines):
    answer_view.show_cost(services(0.000001, 0.000001, "EUR"), turn())
    assert "<span>less than EUR 0.0001</span>" in lines[0]


def test_without_prices_only_the_tokens_are_shown(lines):
    answer_view.show_cost(services(), turn())
    assert "tokens in" in lines[0]
    assert "USD" not in lines[0]


def test_the_built_in_answerer_is_free(lines):
    answer_view.show_cost(services(), turn(EXTRACTIVE, usage={}, timings={"total": 80.0}))
    assert lines == [
        f'<p class="fn-cost"><span>{words.FREE_ANSWERER}</span><span>0.1 s in total</span></p>'
    ]


def test_a_turn_without_an_answer_shows_no_costs(lines):
    answer_view.show_cost(services(), turn(""))
    assert lines == []


def test_a_conversation_with_several_answers_shows_their_total(lines):
    answer_view.show_total_cost(services(2.0, 10.0), [turn()])
    assert lines == []
    answer_view.show_total_cost(services(2.0, 10.0), [turn(), turn()])
    assert "24,690 tokens in, 1,356 out" in lines[0]
    assert "USD 0.0629" in lines[0]


def test_the_name_of_a_model_is_escaped(lines):
    answer_view.show_cost(services(), turn("<img src=x>"))
    assert "<img" not in lines[0]
