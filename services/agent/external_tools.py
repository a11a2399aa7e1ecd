"""The allowed tools of external MCP servers, for the agent."""

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

from domain.messages import _
from services.agent.agent_tools import failure_text
from services.agent.mcp_client import (
    ExternalServerError,
    McpConnection,
    Variable,
    connections_to,
    invalid_file,
    read_servers,
)

if TYPE_CHECKING:  # slow, and needed only to call a server
    from mcp_types import CallToolResult, ContentBlock, Tool

DESCRIPTION_CHARS = 1000
"""Limit of a tool's description; all descriptions are sent with every question."""

SCHEMA_CHARS = 20_000
"""Limit of a tool's JSON schema; a longer one is not sent to the model."""

RESULT_CHARS = 20_000
"""Limit of a tool's result."""

_NAME_CHARS = 64  # the limit of OpenAI's protocol
_INVALID_NAME_CHARS = re.compile(r"[^A-Za-z0-9_-]")
_ANY_OBJECT = {"type": "object", "properties": {}, "additionalProperties": True}


def external_tools(path: Path, variable: Variable) -> list[BaseTool]:
    """The allowed tools of the servers in the file, named SERVER__TOOL.

    This is fast enough for every question, because connections stay open and list their tools only
    once. If a server is unreachable, its tools try again when they are called, and report it.

    Args:
        path: The file; see `services.agent.mcp_client` for its format.
        variable: Returns the value of a variable FOOTNOTE_SECRET_..., or "".

    Raises:
        ConfigError: The file is invalid, or allows a tool that its server does not have.
    """
    tools_by_server = read_servers(path, variable)
    connections = connections_to(tools_by_server)
    with ThreadPoolExecutor(max(len(tools_by_server), 1)) as at_once:
        tool_lists = list(at_once.map(_tool_cache, connections))
    tools = [
        tool
        for connection, available in zip(connections, tool_lists, strict=True)
        for tool in _tools(path, connection, tools_by_server[connection.server], available)
    ]
    _require_one_of_each(path, tools)
    return tools


def _tool_cache(connection: McpConnection) -> "dict[str, Tool] | ExternalServerError":
    try:
        return {tool.name: tool for tool in connection.tools()}
    except ExternalServerError as error:
        return error


def _tools(
    path: Path,
    connection: McpConnection,
    names: Sequence[str],
    available: "dict[str, Tool] | ExternalServerError",
) -> list[BaseTool]:
    server = connection.server.name
    if isinstance(available, ExternalServerError):
        description = f"A tool of the server {server}, which can't be reached now."
        return [_tool(connection, name, description, _ANY_OBJECT) for name in names]
    if unknown := [name for name in names if name not in available]:
        tool_names = ", ".join(sorted(available)) or "none"
        raise invalid_file(
            path,
            _(
                "servers.{server}.tools: there is no tool {unknown}; the server has {available}"
            ).format(server=server, unknown=unknown[0], available=tool_names),
        )
    return [
        _tool(connection, name, available[name].description or name, available[name].input_schema)
        for name in names
    ]


def _tool(
    connection: McpConnection, name: str, description: str, schema: dict[str, Any]
) -> BaseTool:
    text = " ".join(description.split())
    shortened = text if len(text) <= DESCRIPTION_CHARS else f"{text[: DESCRIPTION_CHARS - 1]}…"
    tool = ExternalTool(
        name=_INVALID_NAME_CHARS.sub("_", f"{connection.server.name}__{name}")[:_NAME_CHARS],
        description=shortened,
        # LangChain requires properties even if a tool takes no arguments.
        args_schema={"type": "object", "properties": {}} | schema,
        connection=connection,
        remote_name=name,
        handle_tool_error=failure_text,
    )
    return tool if _is_describable(tool) else tool.model_copy(update={"args_schema": _ANY_OBJECT})


def _is_describable(tool: BaseTool) -> bool:
    """Whether the schema can be sent to models; an invalid one would make every question fail."""
    try:
        parameters = convert_to_openai_tool(tool)["function"]["parameters"]
    except Exception:  # noqa: BLE001  # such as an invalid reference
        return False
    is_object = parameters.get("type") == "object" and isinstance(
        parameters.get("properties"), dict
    )
    return is_object and len(json.dumps(parameters)) <= SCHEMA_CHARS


class ExternalTool(BaseTool):
    """A tool of a server; it receives all arguments unchanged, regardless of their names."""

    connection: McpConnection = Field(exclude=True, repr=False)
    remote_name: str

    def _run(self, /, **arguments: Any) -> str:
        try:
            result = self.connection.call(self.remote_name, arguments)
        except ExternalServerError as error:
            raise ToolException(str(error)) from error
        text = _limit(_text(result))
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
    return f"[A part of type {block.type} is omitted: only text can be read.]"


def _limit(text: str) -> str:
    if len(text) <= RESULT_CHARS:
        return text
    notice = f"[Cut: these are the first {RESULT_CHARS:,} of {len(text):,} characters.]"
    return f"{text[:RESULT_CHARS]}\n{notice}"


def _require_one_of_each(path: Path, tools: Sequence[BaseTool]) -> None:
    [(name, times)] = Counter(tool.name for tool in tools).most_common(1) or [("", 0)]
    if times > 1:
        raise invalid_file(
            path,
            _("two tools would be named {name}: rename a server or allow only one").format(
                name=name
            ),
        )
