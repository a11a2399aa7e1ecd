"""History and passages within a token budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from chains.history import estimate_tokens, fit_documents, fit_history, render_history

TEXT = st.text(st.sampled_from("ab 연차有給の.😀"), max_size=30)
MESSAGE = st.one_of(
    st.tuples(TEXT, TEXT),
    TEXT.map(HumanMessage),
    TEXT.map(AIMessage),
    TEXT.map(SystemMessage),
)
HISTORY = st.lists(MESSAGE, max_size=8)
COUNTER = st.sampled_from([estimate_tokens, len, lambda text: len(text.split())])
LIMIT = st.integers(1, 120)


def begins_a_turn(message):
    return isinstance(message, (tuple, HumanMessage))


@given(HISTORY, LIMIT, COUNTER)
def test_a_history_is_truncated_to_its_newest_turns_within_the_budget(history, limit, count):
    fitted = fit_history(history, limit, count)
    assert fitted == history[len(history) - len(fitted) :]
    assert count(render_history(fitted)) <= limit
    assert not fitted or len(fitted) == len(history) or begins_a_turn(fitted[0])


@given(HISTORY, LIMIT, COUNTER)
def test_no_longer_history_of_whole_turns_fits_the_budget(history, limit, count):
    fitted = fit_history(history, limit, count)
    starts = [n for n, message in enumerate(history) if n == 0 or begins_a_turn(message)]
    longer = [history[n:] for n in starts if len(history) - n > len(fitted)]
    assert all(count(render_history(one)) > limit for one in longer)


@given(HISTORY)
def test_without_a_budget_the_history_is_unchanged(history):
    assert fit_history(history, None) == history


@given(st.lists(TEXT, max_size=8), LIMIT, COUNTER)
def test_documents_are_included_in_order_as_long_as_they_fit(texts, limit, count):
    documents = [Document(text) for text in texts]
    fitted = fit_documents(documents, limit, count)
    assert fitted == documents[: len(fitted)]
    assert sum(count(document.page_content) for document in fitted) <= limit
    if len(fitted) < len(documents):
        one_more = documents[: len(fitted) + 1]
        assert sum(count(document.page_content) for document in one_more) > limit


# The expected numbers are the token counts of OpenAI's o200k_base.
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("안녕하세요? 연차 휴가는 며칠인가요?", 13),
        ("有給休暇は何日もらえますか?", 13),
        ("我们公司的年假有多少天？", 8),
        ("1234567890 2026-11-21 3.14159", 16),
        ("😀😀😀😀", 4),
        ("https://cloud.ibm.com/docs/AnalyticsEngine?topic=AnalyticsEngine-cli", 15),
    ],
)
def test_the_estimate_is_close_to_the_count_of_a_real_tokenizer(text, tokens):
    assert 0.85 * tokens <= estimate_tokens(text) <= 1.5 * tokens


@given(TEXT, TEXT)
def test_a_longer_text_never_has_fewer_tokens(text, more):
    assert estimate_tokens(text + more) >= estimate_tokens(text)
    assert estimate_tokens("") == 0
