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

ASK, STREAM = "/api/v1/ask", "/api/v1/ask/stream"
LEAVE = {"question": "How many days of annual leave do new employees get?"}
SLOWLY = Text(*["word "] * 200, pause_s=0.05)
PATIENCE_S = 15


def until(holds):
    """Wait until it holds; what it gave then."""
    end = time.monotonic() + PATIENCE_S
    while not (given_ := holds()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
    return given_


def ended(services):
    """The only turn, once it is no longer answered."""
    [talk] = services.conversations.page(LOCAL_USER, limit=50).items
    [turn] = services.turns.list(LOCAL_USER, talk.id)
    return None if turn.state is TurnState.RUNNING else turn


def leave_after(url, headers, name):
    """Ask, and go away when the first event of that name has come."""
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S) as client:
        with client.stream("POST", STREAM, json=LEAVE) as response:
            until_event(name, response)


def until_event(name, response):
    assert any(came == name for came, _ in events_of(response.iter_lines()))


@pytest.fixture
def asked(imported):
    """The services with a chat model, and the headers of a key."""
    services = imported(chat=True)
    return services, bearer(services)


def test_a_client_that_goes_away_in_mid_stream_stops_the_answer_and_the_model(asked, model_server):
    services, headers = asked
    model_server.will(SLOWLY)
    with serving(services) as url:
        leave_after(url, headers, "token")
        turn = until(lambda: ended(services))
        assert model_server.hung_up.wait(PATIENCE_S)
    assert turn.state is TurnState.STOPPED
    assert turn.answer.startswith("word")
    assert len(turn.answer.split()) < 100, "long before its end"
    assert turn.sources


def test_so_does_one_that_goes_away_before_the_first_token(asked, model_server):
    services, headers = asked
    model_server.will(Text(*["word "] * 200, pause_s=0.05, delay_s=1))
    with serving(services) as url:
        leave_after(url, headers, "sources")
        turn = until(lambda: ended(services))
        assert model_server.hung_up.wait(PATIENCE_S)
    assert (turn.state, turn.error) == (TurnState.STOPPED, "")


async def test_so_does_one_that_goes_away_while_it_waits_for_the_whole_answer(asked, model_server):
    services, headers = asked
    model_server.will(SLOWLY)
    with serving(services) as url:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE_S) as client:
            asking = asyncio.create_task(client.post(ASK, json=LEAVE))
            await asyncio.to_thread(until, lambda: model_server.requests)
            asking.cancel()
            await asyncio.wait([asking])
        turn = await asyncio.to_thread(until, lambda: ended(services))
        assert await asyncio.to_thread(model_server.hung_up.wait, PATIENCE_S)
    assert turn.state is TurnState.STOPPED


SERVER = """
import sys, uvicorn
from api.application import make_app
from bootstrap import build_services
print("up", flush=True)
uvicorn.run(make_app(build_services()), port=int(sys.argv[1]), log_level="warning")
"""


@pytest.fixture
def process(asked, model_server, tmp_path):
    """The address of the API in a process of its own, and the process."""
    port = free_port()
    settings = {
        "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
        "OPENAI_BASE_URL": model_server.url,
        "FOOTNOTE_CHAT_MODEL": MODEL,
    }
    run = subprocess.Popen([sys.executable, "-c", SERVER, str(port)], env=os.environ | settings)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_up(url))
        yield url, run
    finally:
        run.kill()
        run.wait()


def free_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def is_up(url):
    try:
        return httpx.get(url + "/api/v1/health", timeout=1).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.slow
def test_a_process_that_is_told_to_end_stops_its_answers_first(asked, process, model_server):
    services, headers = asked
    url, run = process
    model_server.will(SLOWLY)
    names = []
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S) as client:
        with client.stream("POST", STREAM, json=LEAVE) as response:
            events = events_of(response.iter_lines())
            names += [next(events)[0] for _ in range(5)]
            run.send_signal(signal.SIGTERM)
            with pytest.raises(httpx.RemoteProtocolError):
                names += [name for name, _ in events]
    assert "token" in names
    assert run.wait(PATIENCE_S) in (0, -signal.SIGTERM)
    assert model_server.hung_up.wait(PATIENCE_S)
    assert ended(services).state is TurnState.STOPPED
    assert names.count("token") < 100


def test_each_token_leaves_at_once(asked, model_server):
    services, headers = asked
    model_server.will(Text(*["word "] * 6, pause_s=0.2))
    came = []
    with serving(services) as url, httpx.Client(base_url=url, headers=headers) as client:
        with client.stream("POST", STREAM, json=LEAVE) as response:
            for name, _ in events_of(response.iter_lines()):
                came += [time.monotonic()] if name == "token" else []
    gaps = [after - before for before, after in zip(came, came[1:], strict=False)]
    assert len(gaps) >= 4
    assert min(gaps) > 0.1


def test_a_silent_stream_is_kept_alive(asked, model_server, monkeypatch):
    monkeypatch.setattr(streaming, "PING_S", 0.1)
    services, headers = asked
    model_server.will(Text("word", delay_s=1))
    with serving(services) as url:
        text = httpx.post(url + STREAM, json=LEAVE, headers=headers, timeout=PATIENCE_S).text
    assert text.count("\n: ping") >= 3


def test_more_answers_than_are_written_at_once_are_asked_to_come_later(imported, model_server):
    services = imported(chat=True, api_answers=1)
    headers = bearer(services)
    model_server.will(SLOWLY, Text("Done."))
    with serving(services) as url, httpx.Client(base_url=url, headers=headers) as client:
        with client.stream("POST", STREAM, json=LEAVE, timeout=PATIENCE_S) as response:
            until_event("token", response)
            for path in (ASK, STREAM):
                refused = client.post(path, json=LEAVE)
                assert refused.status_code == 503
                assert refused.json()["retryable"] is True
                assert int(refused.headers["retry-after"]) > 0
            assert services.conversations.page(LOCAL_USER, limit=50).total == 1
        until(lambda: ended(services))
        answered = until(lambda: try_again(client))
    assert answered["answer"] == "Done."


def try_again(client):
    response = client.post(ASK, json=LEAVE, timeout=PATIENCE_S)
    return response.json() if response.status_code == 200 else None


async def test_what_the_generator_raises_its_reader_gets_after_what_came_before():
    def counting():
        yield 1
        raise ValueError("no more")

    stream = Streams(1).start(counting)
    assert await anext(stream) == 1
    with pytest.raises(ValueError, match="no more"):
        await anext(stream)


async def test_a_reader_that_is_behind_gets_what_has_come_at_once():
    read, all_came = threading.Event(), threading.Event()

    def counting():
        yield 1
        read.wait(PATIENCE_S)
        yield from (2, 3, 4)
        all_came.set()
        raise ValueError("no more")

    seen = []

    async def read_slowly():
        async for items in Streams(1).start(counting).batches():
            seen.append(items)
            read.set()
            all_came.wait(PATIENCE_S)  # the loop itself is held up

    with pytest.raises(ValueError, match="no more"):
        await read_slowly()
    assert seen == [[1], [2, 3, 4]]


async def test_what_fails_before_anything_is_yielded_its_reader_gets():
    def none():
        raise KeyError("nothing")

    with pytest.raises(KeyError):
        await anext(Streams(1).start(none))


class Held:
    """Holds a generator after its first item until it may go on, and tells when it has ended."""

    def __init__(self):
        self.going, self.gone = threading.Event(), threading.Event()

    def items(self):
        try:
            yield 1
            self.going.wait(PATIENCE_S)
            yield 2
        finally:
            self.gone.set()


async def test_a_stream_has_its_thread_until_its_generator_has_ended():
    streams, held = Streams(1), Held()
    stream = streams.start(held.items)
    assert await anext(stream) == 1
    stream.close()
    with pytest.raises(ProblemError):
        streams.start(held.items)
    assert not held.gone.is_set()
    held.going.set()
    assert await asyncio.to_thread(held.gone.wait, PATIENCE_S)
    items = []
    for _ in range(100):
        try:
            items = [item async for item in streams.start(held.items)]
            break
        except ProblemError:  # it is about to be free
            await asyncio.sleep(0.02)
    assert items == [1, 2]


async def test_a_process_that_ends_waits_for_what_is_still_to_be_kept(monkeypatch):
    monkeypatch.setattr(streaming, "END_S", 0.2)
    streams, held = Streams(1), Held()
    await anext(streams.start(held.items))
    began = time.monotonic()
    streams.wait_until_ended()
    assert 0.2 <= time.monotonic() - began < 5, "a model that is silent keeps no process"
    monkeypatch.setattr(streaming, "END_S", PATIENCE_S)
    threading.Timer(0.1, held.going.set).start()
    streams.wait_until_ended()
    assert held.going.is_set()
    assert time.monotonic() - began < 5


def test_a_stream_whose_loop_has_ended_closes_its_generator():
    streams, held = Streams(1), Held()

    async def begin():
        return await anext(streams.start(held.items))

    assert asyncio.run(begin()) == 1
    held.going.set()
    assert held.gone.wait(PATIENCE_S)


@given(st.text())
def test_an_event_is_one_line_for_every_client_and_holds_all_of_the_text(text):
    told = json_event("token", {"text": text}).decode()
    name, data, nothing = told.splitlines()
    assert (name, nothing) == ("event: token", "")
    assert json.loads(data.removeprefix("data: ")) == {"text": text}
