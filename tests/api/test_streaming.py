import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import streaming
from api.problems import ProblemError
from api.streaming import Streams, json_event
from domain import LOCAL_USER, TurnState
from tests.api.conftest import bearer
from tests.api.serving import events_of, serving
from tests.fakes.openai import MODEL, Text
from tests.servers import START_S, free_port

pytestmark = pytest.mark.slow

ASK, STREAM = "/api/v1/ask", "/api/v1/ask/stream"
LEAVE = {"question": "How many days of annual leave do new employees get?"}
SLOWLY = Text(*["word "] * 200, pause_s=0.05)
WAIT_S = 15


def until(condition, seconds=WAIT_S):
    """Wait until the condition is true, and return its value."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
    return result


def finished_turn(services):
    """The only turn, or None while it is being answered."""
    [conversation] = services.conversations.page(LOCAL_USER, limit=50).items
    [turn] = services.turns.list(LOCAL_USER, conversation.id)
    return None if turn.state is TurnState.RUNNING else turn


def disconnect_after(url, headers, name):
    """Ask, and disconnect after the first event with this name."""
    with httpx.Client(base_url=url, headers=headers, timeout=WAIT_S) as client:
        with client.stream("POST", STREAM, json=LEAVE) as response:
            wait_for_event(name, events_of(response.iter_lines()))


def wait_for_event(name, events):
    """Read until an event has this name. The connection is closed once `events` is unreferenced."""
    assert any(event == name for event, _ in events)


@pytest.fixture
def chat_services(imported):
    """The services with a chat model, and the headers of a key."""
    services = imported(chat=True)
    return services, bearer(services)


def test_a_client_that_disconnects_mid_stream_stops_the_answer_and_the_model(
    chat_services, model_server
):
    services, headers = chat_services
    model_server.will(SLOWLY)
    with serving(services) as url:
        disconnect_after(url, headers, "token")
        turn = until(lambda: finished_turn(services))
        assert model_server.hung_up.wait(WAIT_S)
    assert turn.state is TurnState.STOPPED
    assert turn.answer.startswith("word")
    assert len(turn.answer.split()) < 100, "long before its end"
    assert turn.sources


def test_a_client_that_disconnects_before_the_first_token_stops_the_answer(
    chat_services, model_server
):
    services, headers = chat_services
    model_server.will(Text(*["word "] * 200, pause_s=0.05, delay_s=1))
    with serving(services) as url:
        disconnect_after(url, headers, "sources")
        turn = until(lambda: finished_turn(services))
        was_called = bool(model_server.requests)  # on a busy machine, the answer stops before that
        assert not was_called or model_server.hung_up.wait(WAIT_S)
    assert (turn.state, turn.error) == (TurnState.STOPPED, "")


async def test_a_client_that_disconnects_before_the_whole_answer_stops_it(
    chat_services, model_server
):
    services, headers = chat_services
    model_server.will(SLOWLY)
    with serving(services) as url:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=WAIT_S) as client:
            task = asyncio.create_task(client.post(ASK, json=LEAVE))
            await asyncio.to_thread(until, lambda: model_server.requests)
            task.cancel()
            await asyncio.wait([task])
        turn = await asyncio.to_thread(until, lambda: finished_turn(services))
        assert await asyncio.to_thread(model_server.hung_up.wait, WAIT_S)
    assert turn.state is TurnState.STOPPED


SERVER = """
import sys, uvicorn
from api.application import make_app
from bootstrap import build_services
print("up", flush=True)
uvicorn.run(make_app(build_services()), port=int(sys.argv[1]), log_level="warning")
"""


@pytest.fixture
def process(chat_services, model_server, tmp_path):
    """The address of the API in a separate process, and the process."""
    port = free_port()
    settings = {
        "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
        "OPENAI_BASE_URL": model_server.url,
        "FOOTNOTE_CHAT_MODEL": MODEL,
    }
    run = subprocess.Popen([sys.executable, "-c", SERVER, str(port)], env=os.environ | settings)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_up(url), START_S)
        yield url, run
    finally:
        run.kill()
        run.wait()


def is_up(url):
    try:
        return httpx.get(url + "/api/v1/health", timeout=1).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.slow
def test_a_terminated_process_stops_its_answers_first(chat_services, process, model_server):
    services, headers = chat_services
    url, run = process
    model_server.will(SLOWLY)
    names = []
    with httpx.Client(base_url=url, headers=headers, timeout=WAIT_S) as client:
        with client.stream("POST", STREAM, json=LEAVE) as response:
            events = events_of(response.iter_lines())
            names += [next(events)[0] for _ in range(5)]
            run.send_signal(signal.SIGTERM)
            with pytest.raises(httpx.RemoteProtocolError):
                names += [name for name, _ in events]
    assert "token" in names
    assert run.wait(WAIT_S) in (0, -signal.SIGTERM)
    assert model_server.hung_up.wait(WAIT_S)
    assert finished_turn(services).state is TurnState.STOPPED
    assert names.count("token") < 100


class OneByOne(Text):
    """A reply that sends each piece after the client has received the one before."""

    def __init__(self, *pieces):
        super().__init__(*pieces)
        self.received = threading.Semaphore()
        self.were_received = []

    def deltas(self):
        for delta in super().deltas():
            self.were_received.append(self.received.acquire(timeout=WAIT_S))
            yield delta


def test_each_token_is_sent_at_once(chat_services, model_server):
    services, headers = chat_services
    reply = OneByOne(*["word "] * 6)
    model_server.will(reply)
    with serving(services) as url:
        with httpx.Client(base_url=url, headers=headers, timeout=WAIT_S) as client:
            with client.stream("POST", STREAM, json=LEAVE) as response:
                for name, _ in events_of(response.iter_lines()):
                    if name == "token":
                        reply.received.release()
    assert reply.were_received == [True] * 6


def test_pings_keep_a_silent_stream_alive(chat_services, model_server, monkeypatch):
    monkeypatch.setattr(streaming, "PING_S", 0.1)
    services, headers = chat_services
    model_server.will(Text("word", delay_s=1))
    with serving(services) as url:
        text = httpx.post(url + STREAM, json=LEAVE, headers=headers, timeout=WAIT_S).text
    assert text.count("\n: ping") >= 3


def test_too_many_concurrent_answers_return_503_with_retry_after(imported, model_server):
    services = imported(chat=True, api_answers=1)
    headers = bearer(services)
    model_server.will(SLOWLY, Text("Done."))
    with serving(services) as url, httpx.Client(base_url=url, headers=headers) as client:
        with client.stream("POST", STREAM, json=LEAVE, timeout=WAIT_S) as response:
            events = events_of(response.iter_lines())
            wait_for_event("token", events)
            for path in (ASK, STREAM):
                rejection = client.post(path, json=LEAVE)
                assert rejection.status_code == 503
                assert rejection.json()["retryable"] is True
                assert int(rejection.headers["retry-after"]) > 0
            assert services.conversations.page(LOCAL_USER, limit=50).total == 1
        until(lambda: finished_turn(services))
        turn = until(lambda: try_again(client))
    assert turn["answer"] == "Done."


def try_again(client):
    response = client.post(ASK, json=LEAVE, timeout=WAIT_S)
    return response.json() if response.status_code == 200 else None


async def test_the_reader_gets_the_items_of_the_generator_and_then_its_error():
    def counting():
        yield 1
        raise ValueError("no more")

    stream = Streams(1).start(counting)
    assert await anext(stream) == 1
    with pytest.raises(ValueError, match="no more"):
        await anext(stream)


async def test_a_slow_reader_gets_the_accumulated_items_at_once():
    first_read, all_yielded = threading.Event(), threading.Event()

    def counting():
        yield 1
        first_read.wait(WAIT_S)
        yield from (2, 3, 4)
        all_yielded.set()
        raise ValueError("no more")

    batches = []

    async def read_slowly():
        async for items in Streams(1).start(counting).batches():
            batches.append(items)
            first_read.set()
            all_yielded.wait(WAIT_S)  # blocks the event loop

    with pytest.raises(ValueError, match="no more"):
        await read_slowly()
    assert batches == [[1], [2, 3, 4]]


async def test_the_reader_gets_an_error_raised_before_the_first_item():
    def fail():
        raise KeyError("nothing")

    with pytest.raises(KeyError):
        await anext(Streams(1).start(fail))


class Held:
    """Holds a generator after its first item until `released`, and sets `ended` at its end."""

    def __init__(self):
        self.released, self.ended = threading.Event(), threading.Event()

    def items(self):
        try:
            yield 1
            self.released.wait(WAIT_S)
            yield 2
        finally:
            self.ended.set()


async def test_a_stream_keeps_its_thread_until_its_generator_ends():
    streams, held = Streams(1), Held()
    stream = streams.start(held.items)
    assert await anext(stream) == 1
    stream.close()
    with pytest.raises(ProblemError):
        streams.start(held.items)
    assert not held.ended.is_set()
    held.released.set()
    assert await asyncio.to_thread(held.ended.wait, WAIT_S)
    items = []
    for _ in range(100):
        try:
            items = [item async for item in streams.start(held.items)]
            break
        except ProblemError:  # the thread is about to become free
            await asyncio.sleep(0.02)
    assert items == [1, 2]


async def test_the_end_of_the_process_waits_briefly_for_running_generators(monkeypatch):
    monkeypatch.setattr(streaming, "END_S", 0.2)
    streams, held = Streams(1), Held()
    await anext(streams.start(held.items))
    start = time.monotonic()
    streams.wait_until_ended()
    assert 0.2 <= time.monotonic() - start < 5, (
        "a silent model does not delay the end of the process"
    )
    monkeypatch.setattr(streaming, "END_S", WAIT_S)
    threading.Timer(0.1, held.released.set).start()
    streams.wait_until_ended()
    assert held.released.is_set()
    assert time.monotonic() - start < 5


def test_a_stream_whose_loop_has_ended_closes_its_generator():
    streams, held = Streams(1), Held()

    async def begin():
        return await anext(streams.start(held.items))

    assert asyncio.run(begin()) == 1
    held.released.set()
    assert held.ended.wait(WAIT_S)


@given(st.text())
def test_the_data_of_an_event_is_one_line_with_the_whole_text(text):
    event = json_event("token", {"text": text}).decode()
    name, data, rest = event.splitlines()
    assert (name, rest) == ("event: token", "")
    assert json.loads(data.removeprefix("data: ")) == {"text": text}
