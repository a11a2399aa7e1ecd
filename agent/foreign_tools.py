"""Tools of other people's MCP servers for the agent: only those that the setting allows."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from agent.failures import failed
from agent.mcp_client import ForeignServerError, McpConnection, connections_to
from agent.mcp_servers import Variable, read_servers, wrong

if TYPE_CHECKING:  # slow, and only what calls a server needs it
    from mcp_types import CallToolResult, ContentBlock, Tool

DESCRIPTION_CHARS = 1000
"""Of a tool's description: all of them are sent with every question."""

SCHEMA_CHARS = 20_000
"""Of what a tool takes, as JSON; of one that needs more the model is told nothing about it."""

RESULT_CHARS = 20_000
"""Of what a tool gives."""

_NAME_CHARS = 64  # what OpenAI's protocol takes
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_ANYTHING = {"type": "object", "properties": {}, "additionalProperties": True}


def foreign_tools(path: Path, variable: Variable) -> list[BaseTool]:
    """The allowed tools of the servers that the file names, each called SERVER__TOOL.

    Cheap enough for every question: connections are kept, and each lists its tools once. Where a
    server can't be reached, its tools say so when they are called, and try again.

    Args:
        path: The file; `agent.mcp_servers` tells what is in it.
        variable: What a variable FOOTNOTE_SECRET_... holds.

    Raises:
        ConfigError: The file is wrong, or allows a tool that its server does not have.
    """
    allowed = read_servers(path, variable)
    connections = connections_to(allowed)
    with ThreadPoolExecutor(max(len(allowed), 1)) as at_once:
        listed = list(at_once.map(_listed, connections))
    tools = [
        tool
        for connection, known in zip(connections, listed, strict=True)
        for tool in _tools(path, connection, allowed[connection.server], known)
    ]
    _require_one_of_each(path, tools)
    return tools


def _listed(connection: McpConnection) -> "dict[str, Tool] | ForeignServerError":
    try:
        return {tool.name: tool for tool in connection.tools()}
    except ForeignServerError as error:
        return error


def _tools(
    path: Path,
    connection: McpConnection,
    names: Sequence[str],
    known: "dict[str, Tool] | ForeignServerError",
) -> list[BaseTool]:
    server = connection.server.name
    if isinstance(known, ForeignServerError):
        told = f"A tool of the server {server}, which can't be reached now."
        return [_tool(connection, name, told, _ANYTHING) for name in names]
    if unknown := [name for name in names if name not in known]:
        has = ", ".join(sorted(known)) or "none"
        raise wrong(path, f"servers.{server}.tools: it has no {unknown[0]}; it has {has}")
    return [
        _tool(connection, name, known[name].description or name, known[name].input_schema)
        for name in names
    ]


def _tool(
    connection: McpConnection, name: str, description: str, schema: dict[str, Any]
) -> BaseTool:
    told = " ".join(description.split())
    cut = told if len(told) <= DESCRIPTION_CHARS else f"{told[: DESCRIPTION_CHARS - 1]}…"
    tool = ForeignTool(
        name=_NOT_IN_NAMES.sub("_", f"{connection.server.name}__{name}")[:_NAME_CHARS],
        description=cut,
        # LangChain looks for the properties of a tool that takes nothing, too.
        args_schema={"type": "object", "properties": {}} | schema,
        connection=connection,
        name_there=name,
        handle_tool_error=failed,
    )
    return tool if _can_be_told(tool) else tool.model_copy(update={"args_schema": _ANYTHING})


def _can_be_told(tool: BaseTool) -> bool:
    """Whether models can be told what it takes: where not, every question would end with that."""
    try:
        takes = convert_to_openai_tool(tool)["function"]["parameters"]
    except Exception:  # noqa: BLE001  # whatever a reference that leads nowhere makes of it
        return False
    is_object = takes.get("type") == "object" and isinstance(takes.get("properties"), dict)
    return is_object and len(json.dumps(takes)) <= SCHEMA_CHARS


class ForeignTool(BaseTool):
    """A tool of a server, which gets all arguments as they are, whatever they are called."""

    connection: McpConnection = Field(exclude=True, repr=False)
    name_there: str

    def _run(self, /, **arguments: Any) -> str:
        try:
            result = self.connection.call(self.name_there, arguments)
        except ForeignServerError as error:
            raise ToolException(str(error)) from error
        text = _bounded(_text(result))
        if result.is_error:
            raise ToolException(text or "the tool gave no reason")
        return text


def _text(result: "CallToolResult") -> str:
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n\n".join(parts)


def _part(block: "ContentBlock") -> str:
    if block.type == "text":
        return block.text
    if block.type == "resource_link":
        return f"{block.title or block.name}: {block.uri}"
    if block.type == "resource" and (text := getattr(block.resource, "text", "")):
        return str(text)
    return f"[A part of the kind {block.type} is left out: only text can be read here.]"


def _bounded(text: str) -> str:
    if len(text) <= RESULT_CHARS:
        return text
    told = f"[Cut: these are the first {RESULT_CHARS:,} of {len(text):,} characters.]"
    return f"{text[:RESULT_CHARS]}\n{told}"


def _require_one_of_each(path: Path, tools: Sequence[BaseTool]) -> None:
    [(name, times)] = Counter(tool.name for tool in tools).most_common(1) or [("", 0)]
    if times > 1:
        raise wrong(path, f"two tools would be called {name}: rename a server, or allow one")
