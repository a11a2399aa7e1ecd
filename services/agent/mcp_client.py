"""External MCP servers: the file that names them, and synchronous calls of their tools.

    {"servers": {
      "tickets": {"command": ["python", "tickets.py"],
                  "environment": {"TICKETS_TOKEN": "$FOOTNOTE_SECRET_TICKETS"},
                  "tools": ["find_ticket"]},
      "wiki": {"url": "https://wiki.example.org/mcp",
               "headers": {"Authorization": "Bearer $FOOTNOTE_SECRET_WIKI"},
               "tools": ["read_page"]}}}

A command runs in the folder of the file, with few environment variables besides those named here.

All connections use one event loop in a separate thread. `langchain-mcp-adapters` is not used,
because its latest release, 0.3.2, requires `mcp<2`, which conflicts with the `mcp>=2.3` of our own
MCP server. By default it also opens a session, and so starts a process, for each tool call.
"""

import asyncio
import functools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from domain.errors import AppError, ConfigError
from domain.logs import OutgoingRequest, get_logger, outgoing_request
from domain.messages import _

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp_types import CallToolResult, Tool


_log = get_logger("agent")

MCP_SERVERS_SETTING = "FOOTNOTE_AGENT_MCP_SERVERS"

Variable = Callable[[str], str]
"""Returns the value of a variable FOOTNOTE_SECRET_..., or "" if it is not set."""

_SECRET = re.compile(r"\$(FOOTNOTE_SECRET_[A-Z0-9_]+)")

Text = Annotated[str, StringConstraints(min_length=1)]
ServerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,30}$")]


@dataclass(frozen=True)
class McpServer:
    """How to reach a server: start a command in a folder, or connect to a URL.

    `environment` and `headers` are pairs of name and value, with secrets filled in.
    """

    name: str
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    folder: Path = Path()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class _Server(BaseModel):
    model_config = ConfigDict(extra="forbid")

    command: tuple[Text, ...] = ()
    environment: dict[str, str] = {}
    url: str = Field("", pattern=r"^(https?://\S+)?$")
    headers: dict[str, str] = {}
    tools: tuple[Text, ...]

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError('give it either a "command" or a "url"')
        if self.environment and self.url:
            raise ValueError('"environment" is for a "command": a "url" has "headers"')
        if self.headers and self.command:
            raise ValueError('"headers" are for a "url": a "command" has an "environment"')
        return self


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    servers: dict[ServerName, _Server]


def read_servers(path: Path, variable: Variable) -> Mapping[McpServer, tuple[str, ...]]:
    """The names of each server's allowed tools, in the order of the file.

    Raises:
        ConfigError: The file can't be read or is invalid, or a variable is not set; the message
            names the setting, the file, and the field.
    """
    try:
        file = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise invalid_file(
            path, _("it can't be read ({strerror})").format(strerror=error.strerror)
        ) from error
    except ValidationError as error:
        raise invalid_file(path, "; ".join(map(_problem_text, error.errors()))) from error
    return {_server(path, name, one, variable): one.tools for name, one in file.servers.items()}


def invalid_file(path: Path, reason: str) -> ConfigError:
    """The error with the name of the setting, the file, and the reason."""
    return ConfigError(f"{MCP_SERVERS_SETTING}: {path}: {reason}.")


def _server(path: Path, name: str, one: _Server, variable: Variable) -> McpServer:
    def fill(part: str, values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple((key, secret(f"{part}.{key}", values[key])) for key in values)

    def secret(location: str, value: str) -> str:
        def replace(match: re.Match[str]) -> str:
            if not (secret_value := variable(match[1])):
                raise invalid_file(
                    path,
                    _("servers.{name}.{field}: the variable {variable} is not set").format(
                        name=name, field=location, variable=match[1]
                    ),
                )
            return secret_value

        return _SECRET.sub(replace, value)

    return McpServer(
        name,
        one.command,
        fill("environment", one.environment),
        path.resolve().parent,
        one.url,
        fill("headers", one.headers),
    )


def _problem_text(problem: object) -> str:
    assert isinstance(problem, dict)  # noqa: S101  # pydantic's ErrorDetails
    location = ".".join(str(part) for part in problem["loc"])
    reason = str(problem["msg"]).removeprefix("Value error, ")
    return f"{location}: {reason}" if location else reason


CALL_S = 30.0
"""Time limit of a tool call, in seconds."""

CONNECT_S = 10.0
"""Time limit for starting a server and for listing its tools, in seconds."""

RETRY_DELAY_S = 30.0
"""Seconds until an unreachable server is contacted again, so that questions do not wait for it."""

REASON_CHARS = 300
"""Limit of an error message: a hostile server could fill the model's context."""

_PAGES = 20  # an endless tool list would block the agent
_T = TypeVar("_T")
_OPEN: "dict[McpServer, McpConnection]" = {}
_CHANGING, _STARTING = threading.Lock(), threading.Lock()
_CHILD = Path(__file__).with_name("mcp_child.py")


class ExternalServerError(AppError):
    """An MCP server can't be reached, or a tool call failed; the message names the server."""


class McpConnection:
    """A connection that is opened on first use and reopened after it was lost."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self._session: _Session | None = None
        self._tool_cache: tuple[Client, list[Tool]] | None = None
        self._down_until = 0.0

    def tools(self) -> "list[Tool]":
        """The server's tools, listed once per connection.

        Raises:
            ExternalServerError: The server can't be reached, or could not be reached less than
                `RETRY_DELAY_S` ago.
        """
        if time.monotonic() < self._down_until:
            raise self._failure(_("it could not be reached a moment ago"))
        try:
            with self._log_request("tools/list"):
                return _wait(self._request(self._tools, CONNECT_S))
        except ExternalServerError as error:
            _log.warning("MCP server unavailable", server=self.server.name, reason=str(error))
            self._down_until = time.monotonic() + RETRY_DELAY_S
            raise

    def call(self, tool: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Call a tool; its result may be an error.

        Raises:
            ExternalServerError: The server can't be reached, aborted, does not know the tool, or
                took longer than `CALL_S`.
        """

        async def call(client: "Client") -> "CallToolResult":
            return await client.call_tool(tool, arguments)

        with self._log_request("tools/call", tool=tool):
            result: CallToolResult = _wait(self._request(call, CALL_S))
        return result

    def _log_request(
        self, method: str, tool: str | None = None
    ) -> AbstractContextManager[OutgoingRequest]:
        url = self.server.url or f"stdio://{self.server.name}"
        return outgoing_request(method, url, server=self.server.name, tool=tool)

    def close(self) -> None:
        """Close the connection and end the server's process, if any; the next call reconnects."""

        async def close() -> None:
            if session := self._session:
                self._drop(session)
                await asyncio.wait([session.task], timeout=CONNECT_S)

        _wait(close())

    async def _tools(self, client: "Client") -> "list[Tool]":
        if self._tool_cache and self._tool_cache[0] is client:
            return self._tool_cache[1]
        tools: list[Tool] = []
        cursor = None
        for _unused in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        self._tool_cache = client, tools
        return tools

    async def _request(self, request: Any, seconds: float) -> Any:
        """Run a request with a time limit; drop the connection if it fails."""
        session = self._current_session()
        try:
            async with asyncio.timeout(CONNECT_S):
                client = await asyncio.shield(session.client)
            async with asyncio.timeout(seconds):
                return await request(client)
        except TimeoutError as error:
            self._drop(session)
            raise self._failure(_("it did not respond in time")) from error
        except Exception as error:
            if not _is_refusal(error):
                self._drop(session)
            raise self._failure(_reason(error)) from error

    def _current_session(self) -> "_Session":
        if self._session is None or self._session.task.done():
            self._session = _Session(self.server)
        return self._session

    def _drop(self, session: "_Session") -> None:
        session.task.cancel()
        if self._session is session:
            self._session = None

    def _failure(self, reason: str) -> ExternalServerError:
        return ExternalServerError(
            _("The MCP server {name} can't be used: {reason}.").format(
                name=self.server.name, reason=reason
            )
        )


class _Session:
    """A connection that one task holds open, as the library requires.

    `client` is a future, which is done once the connection is ready or has failed.
    """

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
                await asyncio.Event().wait()  # until the task is canceled
        except Exception as error:  # noqa: BLE001  # raised again where the client is awaited
            if not self.client.done():
                self.client.set_exception(error)


def connections_to(servers: Iterable[McpServer]) -> list[McpConnection]:
    """This process's connections to the servers, in order; every call returns the same ones.

    Connections to other servers are closed.
    """
    with _CHANGING:
        connections = {server: _OPEN.get(server) or McpConnection(server) for server in servers}
        unused = [connection for server, connection in _OPEN.items() if server not in connections]
        _OPEN.clear()
        _OPEN.update(connections)
    for connection in unused:
        connection.close()
    return list(connections.values())


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
    """Run a coroutine in the event loop; every wait in it must have a time limit."""
    return asyncio.run_coroutine_threadsafe(answer, _loop()).result()


def _loop() -> asyncio.AbstractEventLoop:
    with _STARTING:
        return _new_loop()


@functools.cache
def _new_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="mcp servers", daemon=True).start()
    return loop


def _is_refusal(error: Exception) -> bool:
    """Whether the server itself rejected the request, so that the connection is still good."""
    from mcp import MCPError
    from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

    codes = (INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND)
    return isinstance(error, MCPError) and error.error.code in codes


def _reason(error: BaseException) -> str:
    """The error message on one line; that of the first error in an exception group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:REASON_CHARS].removesuffix(".")
