"""The API on a real server, for clients that disconnect."""

import asyncio
import socket
import threading
from contextlib import contextmanager

import uvicorn

from api.application import make_app


class _Server(uvicorn.Server):
    """Looks more often whether it should stop, because each test waits for that."""

    async def main_loop(self):
        while not await self.on_tick(0):
            await asyncio.sleep(0.01)


@contextmanager
def serving(services):
    """Runs the API on loopback until the end of the block; yields its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(make_app(services), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
        assert not thread.is_alive()


def events_of(lines):
    """The names and data of server-sent events, in order."""
    name = ""
    for line in lines:
        kind, _, value = line.partition(": ")
        if kind == "event":
            name = value
        elif kind == "data":
            yield name, value
