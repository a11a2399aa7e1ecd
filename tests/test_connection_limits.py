"""Connections that send nothing, or too slowly, are closed, and leave room for others."""

import asyncio
import socket
import threading
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from commands import connection_limits
from commands.connection_limits import OpenConnections, limited_protocol

WAIT_S = 30
SHORT_S = 0.2
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPLOAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"


async def app(scope, receive, send):
    """Respond to `POST /early` at once, and to all else after the whole body."""
    if scope["type"] != "http":
        return
    more = scope["path"] != "/early"
    while more:
        message = await receive()
        more = message.get("more_body", False)
    await respond(send)


async def respond(send):
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def server(maximum=8, per_address=8, application=app):
    """Runs a server until the end of the block; yields a function that opens a connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    protocol = limited_protocol(maximum, per_address)
    config = uvicorn.Config(application, http=protocol, log_config=None, lifespan="off")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    with ExitStack() as connections:

        def connect(data=b""):
            address = listening.getsockname()
            connection = connections.enter_context(socket.create_connection(address, WAIT_S))
            connection.sendall(data)
            return connection

        try:
            yield connect
        finally:
            running.should_exit = running.force_exit = True
            thread.join(WAIT_S)
            listening.close()


@pytest.fixture
def short(monkeypatch):
    """Short time limits."""
    monkeypatch.setattr(connection_limits, "HEAD_S", SHORT_S)
    monkeypatch.setattr(connection_limits, "SILENT_BODY_S", SHORT_S)


def is_served(connection):
    received = b""
    while not received.endswith(b"ok"):
        more = _receive(connection)
        if not more:
            return False
        received += more
    return received.startswith(b"HTTP/1.1 200")


def is_closed(connection):
    """Whether the server closes the connection without a response; waits for one of the two."""
    return _receive(connection) == b""


def _receive(connection):
    try:
        return connection.recv(4096)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(
    "data",
    [b"", b"GET / HT", REQUEST[:-2], REQUEST + REQUEST[:-2], UPLOAD, UPLOAD + b"a" * 500],
    ids=["nothing", "a line", "a head", "a second head", "no body", "a part of a body"],
)
def test_a_connection_without_a_complete_request_is_closed(short, data):
    with server() as connect:
        connection = connect(data)
        if data.startswith(REQUEST):
            assert is_served(connection)
        assert is_closed(connection)


def test_a_body_that_is_sent_too_slowly_is_closed(short, monkeypatch):
    monkeypatch.setattr(connection_limits, "SILENT_BODY_S", 0.5)
    monkeypatch.setattr(connection_limits, "BODY_BYTES_PER_S", 1_000_000)
    with server() as connect:
        connection = connect(UPLOAD)
        connection.settimeout(0.05)  # a byte every 50 ms
        for _ in range(999):
            try:
                if not connection.recv(1):
                    break
            except TimeoutError:
                connection.sendall(b"a")
            except ConnectionError:
                break
        else:
            pytest.fail("the body was accepted")


def test_a_body_that_nobody_reads_keeps_no_connection_open(short):
    with server() as connect:
        connection = connect(UPLOAD.replace(b"POST /", b"POST /early"))
        assert is_served(connection)
        assert is_closed(connection)


def test_a_slow_answer_is_not_interrupted(short):
    release = threading.Event()

    async def slow(scope, receive, send):
        await receive()
        await asyncio.to_thread(release.wait, WAIT_S)
        await respond(send)

    with server(application=slow) as connect:
        connection = connect(REQUEST)
        assert is_closed(connect())  # so the time limit for heads is over
        release.set()
        assert is_served(connection)


def test_a_head_without_an_end_is_cut_off():
    with server() as connect:
        lines = b"".join(b"X-%d: " % n + b"a" * 4000 + b"\r\n" for n in range(10_000))
        with pytest.raises(ConnectionError):
            connect(REQUEST[:-2]).sendall(lines)


def test_a_new_connection_replaces_the_one_that_has_waited_longest():
    with server(maximum=3) as connect:
        first, second, third = connect(), connect(), connect()
        assert is_served(connect(REQUEST))
        assert is_closed(first)
        for connection in (second, third):
            connection.sendall(REQUEST)
            assert is_served(connection)


def test_idle_connections_do_not_keep_others_from_being_served():
    with server() as connect:
        idle = [connect() for _ in range(800)]
        assert is_served(connect(REQUEST))
        assert all(map(is_closed, idle[:792]))


def test_a_connection_beyond_the_maximum_is_closed_if_all_others_have_a_request():
    began = threading.Semaphore(0)

    async def uploads_of(scope, receive, send):
        began.release()
        await app(scope, receive, send)

    with server(maximum=2, application=uploads_of) as connect:
        uploads = [connect(UPLOAD) for _ in range(2)]
        assert all(began.acquire(timeout=WAIT_S) for _ in uploads)
        assert is_closed(connect(REQUEST))
        for upload in uploads:
            upload.sendall(b"a" * 1000)
            assert is_served(upload)
        assert is_served(connect(REQUEST))


class Connection:
    """Stands for a protocol, and for its transport."""

    def __init__(self):
        self.transport, self.is_closed = self, False

    def abort(self):
        self.is_closed = True


def test_an_address_at_its_maximum_replaces_only_its_own_connections():
    open_connections = OpenConnections(4, 2)
    other, first, second, third = (Connection() for _ in range(4))
    assert open_connections.admit(other, "b")
    for connection in (first, second, third):
        assert open_connections.admit(connection, "a")
    assert [one.is_closed for one in (other, first, second, third)] == [False, True, False, False]
    open_connections.begin_request(second)
    open_connections.begin_request(third)
    assert not open_connections.admit(Connection(), "a")
    open_connections.remove(second)
    assert open_connections.admit(Connection(), "a")
