"""The real MCP client for synchronous tests, with a limit on every wait."""

import threading
import time
from contextlib import contextmanager

import anyio
from anyio.from_thread import start_blocking_portal

from api.mcp.mcp_server import make_mcp_app
from domain.web.host_policy import HostPolicy, parse_hosts

WAIT_S = 60


class Connected:
    """A connected client; calls are awaited for at most a minute."""

    def __init__(self, portal, client):
        self._portal = portal
        self.client = client

    def ask(self, method, *arguments, **keywords):
        async def bounded():
            with anyio.fail_after(WAIT_S):
                return await getattr(self.client, method)(*arguments, **keywords)

        return self._portal.call(bounded)

    def call(self, tool, **arguments):
        return self.ask("call_tool", tool, arguments)

    def cancel_call(self, tool, is_due, **arguments):
        """Call a tool, and cancel the call as soon as `is_due()`; it must not end before."""

        async def call():
            await self.client.call_tool(tool, arguments)
            raise AssertionError(f"{tool} ended before it was canceled")

        async def bounded():
            with anyio.fail_after(WAIT_S):
                async with anyio.create_task_group() as group:
                    group.start_soon(call)
                    while not is_due():
                        await anyio.sleep(0.02)
                    group.cancel_scope.cancel()

        self._portal.call(bounded)


@contextmanager
def connected(transport, **settings):
    from mcp import Client

    with start_blocking_portal() as portal:
        client = Client(transport, read_timeout_seconds=WAIT_S, **settings)
        with portal.wrap_async_context_manager(client):
            yield Connected(portal, client)


def over_stdio(line):
    """The command in a subprocess, as an MCP client starts it."""
    from mcp import StdioServerParameters

    command = line.command("mcp")
    environment = line.environ()
    return StdioServerParameters(command=command[0], args=command[1:], env=environment)


def over_http(url, secret):
    """A transport that sends the API key; none if `secret` is None."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    return streamable_http_client(
        url, http_client=httpx2.AsyncClient(headers=headers, timeout=WAIT_S)
    )


@contextmanager
def serving_mcp(services, hosts=()):
    """The URL of the app over these services, served by uvicorn in a thread."""
    import uvicorn

    policy = HostPolicy(parse_hosts(hosts, "hosts"))
    config = uvicorn.Config(make_mcp_app(services, policy), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + WAIT_S
        while not server.started:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(WAIT_S)
        assert not thread.is_alive()
