"""The same clients against a third-party server: llmock in its own process."""

import numpy as np
import pytest

from domain.errors import ModelError, ModelUnavailableError
from models.chat_choice import ChatSpec, build_chat_model
from models.embedding_choice import EmbeddingSpec, build_embeddings
from tests.fakes.llmock import serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def process():
    with serving() as running:
        yield running


@pytest.fixture
def llmock_process(process):
    process.reset()
    return process


@pytest.fixture
def chat(llmock_process):
    return build_chat_model(ChatSpec("gpt-4o-mini", base_url=llmock_process.url, timeout_s=2))


def drain(stream):
    chunks = []
    try:
        chunks.extend(stream)
    except ModelError as error:
        return chunks, error
    return chunks, None


def test_a_stream_has_text_usage_and_a_finish_reason(chat, llmock_process):
    chunks, error = drain(chat.stream("How many days of leave?"))
    assert error is None
    whole = sum(chunks[1:], chunks[0])
    assert whole.text
    assert whole.response_metadata["finish_reason"] == "stop"
    assert whole.usage_metadata["output_tokens"] > 0
    assert llmock_process.findings() == set()


@pytest.mark.parametrize("kind", ["truncate", "disconnect", "malformed"])
def test_an_interrupted_stream_yields_the_received_pieces_and_an_error(chat, llmock_process, kind):
    llmock_process.script(type="stream_fault", kind=kind, after_chunks=2)
    chunks, error = drain(chat.stream("How many days of leave?"))
    assert chunks
    assert error is not None


def test_a_stalled_stream_times_out(chat, llmock_process):
    llmock_process.script(type="stream_fault", kind="stall", after_chunks=2, stall_seconds=5)
    _, error = drain(chat.stream("How many days of leave?"))
    assert isinstance(error, ModelUnavailableError)
    assert "no_read_timeout" not in llmock_process.findings()


def test_a_rate_limit_is_reported_with_the_time_to_wait_and_not_retried(chat, llmock_process):
    llmock_process.script(type="fail", status=429, retry_after=17)
    _, error = drain(chat.stream("hi"))
    assert isinstance(error, ModelUnavailableError)
    assert "in 17 s" in str(error)
    assert llmock_process.call("/_llmock/requests")["count"] == 1


@pytest.mark.parametrize(
    ("status", "retryable"), [(401, False), (404, False), (500, True), (503, True)]
)
def test_each_status_is_reported_as_retryable_or_not(chat, llmock_process, status, retryable):
    llmock_process.script(type="fail", status=status)
    _, error = drain(chat.stream("hi"))
    assert error.retryable is retryable
    assert f"HTTP {status}" in str(error)


def test_embeddings_have_length_one(llmock_process, tmp_path):
    spec = EmbeddingSpec("openai", "text-embedding-3-small", base_url=llmock_process.url)
    model = build_embeddings(spec, tmp_path)
    first, second = model.embed_documents(["leave", "vpn"])
    assert np.allclose(np.linalg.norm([first, second], axis=1), 1, atol=1e-5)
    assert first != second
    assert np.allclose(model.embed_query("leave"), first, atol=1e-6)
    assert model.dimensions == 1536
