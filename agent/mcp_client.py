"""Calls MCP servers of others from code that does not wait in an event loop.

All connections live in one event loop, in a thread of its own.
"""

import asyncio
import functools
import os
import sys
import threading
import time
from collections.abc import Coroutine, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent.mcp_servers import McpServer
from errors import AppError

if TYPE_CHECKING:  # slow, and only what calls a server needs it
    from mcp import Client
    from mcp.client import Transport
    from mcp_types import CallToolResult, Tool

CALL_S = 30.0
"""How long a tool may take."""

CONNECT_S = 10.0
"""How long a server may take to start and to say what it is."""

AGAIN_S = 30.0
"""How long a server that can't be reached is not asked for its tools: each question would wait."""

REASON_CHARS = 300
"""Of why a server gave nothing: a hostile one would fill the model's context."""

_PAGES = 20  # a list of tools that never ends would stop the agent
_T = TypeVar("_T")
_OPEN: "dict[McpServer, McpConnection]" = {}
_CHANGING, _STARTING = threading.Lock(), threading.Lock()
_CHILD = Path(__file__).with_name("mcp_child.py")


class ForeignServerError(AppError):
    """An MCP server can't be reached, or its tool gave no result; the message says which."""


class McpConnection:
    """A server, connected to when it is first needed, and anew after the connection was lost."""

    def __init__(self, server: McpServer) -> None:
        """Args: the server. Nothing is started yet."""
        self.server = server
        self._held: _Held | None = None
        self._listed: tuple[Client, list[Tool]] | None = None
        self._down_until = 0.0

    def tools(self) -> "list[Tool]":
        """The tools it has, listed once for each connection.

        Raises:
            ForeignServerError: It can't be reached, or could not less than `AGAIN_S` ago.
        """
        if time.monotonic() < self._down_until:
            raise self._failed("it could not be reached a moment ago")
        try:
            return _wait(self._within(self._tools, CONNECT_S))
        except ForeignServerError:
            self._down_until = time.monotonic() + AGAIN_S
            raise

    def call(self, tool: str, arguments: dict[str, Any]) -> "CallToolResult":
        """What the tool gives; a result may say that it is an error.

        Raises:
            ForeignServerError: The server can't be reached, broke off, does not know the tool or
                took longer than `CALL_S`.
        """

        async def call(client: "Client") -> "CallToolResult":
            return await client.call_tool(tool, arguments)

        result: CallToolResult = _wait(self._within(call, CALL_S))
        return result

    def close(self) -> None:
        """End it, and a server that was started for it; the next call connects anew."""

        async def close() -> None:
            if held := self._held:
                self._give_up(held)
                await asyncio.wait([held.task], timeout=CONNECT_S)

        _wait(close())

    async def _tools(self, client: "Client") -> "list[Tool]":
        if self._listed and self._listed[0] is client:
            return self._listed[1]
        found: list[Tool] = []
        cursor = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        self._listed = client, found
        return found

    async def _within(self, ask: Any, seconds: float) -> Any:
        """What the server answers within that time; a connection that fails is given up."""
        held = self._live()
        try:
            async with asyncio.timeout(CONNECT_S):
                client = await asyncio.shield(held.client)
            async with asyncio.timeout(seconds):
                return await ask(client)
        except TimeoutError as error:
            self._give_up(held)
            raise self._failed("it did not answer in time") from error
        except Exception as error:
            if not _is_answer(error):
                self._give_up(held)
            raise self._failed(_reason(error)) from error

    def _live(self) -> "_Held":
        if self._held is None or self._held.task.done():
            self._held = _Held(self.server)
        return self._held

    def _give_up(self, held: "_Held") -> None:
        held.task.cancel()
        if self._held is held:
            self._held = None

    def _failed(self, reason: str) -> ForeignServerError:
        return ForeignServerError(f"The MCP server {self.server.name}: {reason}.")


class _Held:
    """A connection held open by one task, as its library wants it; `client` once it stands."""

    def __init__(self, server: McpServer) -> None:
        self.client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._hold(server))

    async def _hold(self, server: McpServer) -> None:
        from mcp import Client

        try:
            async with AsyncExitStack() as open_parts:
                transport = await _transport(server, open_parts)
                client = Client(transport, read_timeout_seconds=CALL_S, cache=None)
                self.client.set_result(await open_parts.enter_async_context(client))
                await asyncio.Event().wait()  # until it is given up
        except Exception as error:  # noqa: BLE001  # whoever waits for the client is told
            if not self.client.done():
                self.client.set_exception(error)


def connections_to(servers: Iterable[McpServer]) -> list[McpConnection]:
    """The connections of this process to the servers, in their order.

    They are the same at each call. Those to servers that are not among them are closed.
    """
    with _CHANGING:
        wanted = {server: _OPEN.get(server) or McpConnection(server) for server in servers}
        left = [connection for server, connection in _OPEN.items() if server not in wanted]
        _OPEN.clear()
        _OPEN.update(wanted)
    for connection in left:
        connection.close()
    return list(wanted.values())


async def _transport(server: McpServer, open_parts: AsyncExitStack) -> "Transport":
    from httpx2 import AsyncClient
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if server.url:
        http = AsyncClient(headers=dict(server.headers), timeout=CALL_S)
        return streamable_http_client(
            server.url, http_client=await open_parts.enter_async_context(http)
        )
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", str(_CHILD), *server.command],
        env=dict(server.environment),
        cwd=server.folder,
    )
    return stdio_client(parameters, errlog=sys.__stderr__ or open(os.devnull, "w"))


def _wait(answer: Coroutine[Any, Any, _T]) -> _T:
    """Its result; each wait in it is bounded."""
    return asyncio.run_coroutine_threadsafe(answer, _loop()).result()


def _loop() -> asyncio.AbstractEventLoop:
    with _STARTING:
        return _started_loop()


@functools.cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="mcp servers", daemon=True).start()
    return loop


def _is_answer(error: Exception) -> bool:
    """Whether the server itself refused: the connection stands."""
    from mcp import MCPError
    from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

    told = (INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND)
    return isinstance(error, MCPError) and error.error.code in told


def _reason(error: BaseException) -> str:
    """Its message in one line; of several at once the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    told = " ".join(str(error).split()) or type(error).__name__
    return told[:REASON_CHARS].removesuffix(".")
