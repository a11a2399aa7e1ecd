"""A small third-party MCP server over stdio or HTTP, for a subprocess.

python -m tests.fakes.mcp_server stdio
python -m tests.fakes.mcp_server http PORT [TOKEN]
"""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

from tests.fakes.command_line import ROOT

STUBBORN = "stubborn"
"""A second argument of stdio: the server and its children ignore requests to exit."""


def make_server():
    from mcp import MCPError
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import INVALID_PARAMS, CallToolResult, ImageContent, TextContent

    server = MCPServer("Tickets", log_level="ERROR")

    @server.tool(description="Finds a ticket. " + "Long. " * 1000)
    def find_ticket(number: int) -> str:
        if number < 0:
            raise ToolError("there are no such tickets")
        return f"Ticket {number}: the lift is broken."

    @server.tool()
    def environment(variable: str) -> str:
        """Returns the value of an environment variable."""
        return os.environ.get(variable, "unset")

    @server.tool(name="pid.of/it")
    def pid() -> str:
        """A tool without arguments."""
        return str(os.getpid())

    @server.tool()
    def long_text(characters: int) -> str:
        return "x" * characters

    @server.tool()
    async def slow(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "done"

    @server.tool()
    def die() -> str:
        os._exit(3)

    @server.tool()
    def refused() -> CallToolResult:
        text = TextContent(type="text", text="the building is closed")
        return CallToolResult(content=[text], is_error=True)

    @server.tool()
    def settings(config: str, run_manager: str, self: str) -> str:
        """Takes the argument names that LangChain injects."""
        return f"{config}, {run_manager}, {self}"

    @server.tool()
    def talkative() -> str:
        raise MCPError(INVALID_PARAMS, "x" * 100_000)

    @server.tool()
    def picture() -> CallToolResult:
        image = ImageContent(type="image", data="AAAA", mime_type="image/png")
        return CallToolResult(content=[image], structured_content=None)

    return server


def http_app(token=""):
    """The ASGI app; with a token, requests without it get a 401."""
    app = make_server().streamable_http_app()

    async def guarded(scope, receive, send):
        headers = dict(scope.get("headers", ()))
        if scope["type"] != "http" or headers.get(b"authorization") == f"Bearer {token}".encode():
            return await app(scope, receive, send)
        await send({"type": "http.response.start", "status": 401, "headers": []})
        return await send({"type": "http.response.body", "body": b""})

    return guarded if token else app


@contextmanager
def serving_http(port, token=""):
    """Run the server on that port in a subprocess until the end of the block."""
    command = [sys.executable, "-m", "tests.fakes.mcp_server", "http", str(port), token]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait(10)


def main(kind, *arguments):
    if kind == "http":
        _serve_http(int(arguments[0]), *arguments[1:])
    elif STUBBORN in arguments:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        make_server().run()
        while True:
            signal.pause()
    else:
        make_server().run()


def _serve_http(port, token=""):
    import uvicorn

    class ReadyServer(uvicorn.Server):
        async def startup(self, sockets=None):
            await super().startup(sockets)
            sys.stdout.write("ready\n")
            sys.stdout.flush()

    config = uvicorn.Config(http_app(token), host="127.0.0.1", port=port, log_level="error")
    ReadyServer(config).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
