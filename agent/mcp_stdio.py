"""The MCP server over standard input and output, for the program that starts it."""

import signal
import threading
from collections.abc import Callable

import anyio
from mcp.server.stdio import stdio_server

from agent.mcp_server import make_mcp_server
from agent.mcp_tools import McpServices
from domain import Principal


def serve_stdio(
    services: McpServices,
    principal: Principal,
    *,
    meanwhile: Callable[[], None],
    when_told: Callable[[], None],
) -> bool:
    """Serve until the client leaves or this process is told to end; whether it was the former.

    Standard output is the protocol's alone: what anybody else prints meanwhile goes to stderr.

    Args:
        services: What does the work.
        principal: For whom everything is.
        meanwhile: Called in a thread once it serves.
        when_told: Called when a signal tells to end. It has to end the process after a while: the
            thread that reads standard input can't be interrupted.
    """
    has_left = threading.Event()

    async def serve() -> bool:
        server = make_mcp_server(services, principal)
        async with anyio.create_task_group() as tasks, stdio_server() as (read, write):
            threading.Thread(target=meanwhile, daemon=True).start()
            tasks.start_soon(end_when_told, tasks.cancel_scope)
            await server.run(read, write, server.create_initialization_options())
            has_left.set()
            tasks.cancel_scope.cancel()
        return has_left.is_set()

    async def end_when_told(serving: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as told:
            await anext(told)
            when_told()
            serving.cancel()

    return anyio.run(serve)
