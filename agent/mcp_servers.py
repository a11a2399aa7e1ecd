"""The file that names MCP servers of others, and which of their tools may be used.

    {"servers": {
      "tickets": {"command": ["python", "tickets.py"],
                  "environment": {"TICKETS_TOKEN": "$FOOTNOTE_SECRET_TICKETS"},
                  "tools": ["find_ticket"]},
      "wiki": {"url": "https://wiki.example.org/mcp",
               "headers": {"Authorization": "Bearer $FOOTNOTE_SECRET_WIKI"},
               "tools": ["read_page"]}}}

A command runs in the folder of the file, with little of the environment but what is named here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from errors import ConfigError

SETTING = "FOOTNOTE_AGENT_MCP_SERVERS"

Variable = Callable[[str], str]
"""What a variable FOOTNOTE_SECRET_... holds, "" where it is not set."""

_SECRET = re.compile(r"\$(FOOTNOTE_SECRET_[A-Z0-9_]+)")

Text = Annotated[str, StringConstraints(min_length=1)]
ServerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,30}$")]


@dataclass(frozen=True)
class McpServer:
    """How a server is reached: started as a command in a folder, or at an address.

    `environment` and `headers` are pairs of name and value, the secrets filled in.
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
    """By server, in the order of the file, the names of its tools that may be used.

    Raises:
        ConfigError: The file can't be read or is not as it should be, or a variable is not set;
            the message names the setting, the file and the field.
    """
    try:
        read = _File.model_validate_json(path.read_bytes())
    except OSError as error:
        raise wrong(path, f"it can't be read ({error.strerror})") from error
    except ValidationError as error:
        raise wrong(path, "; ".join(map(_told, error.errors()))) from error
    return {_server(path, name, one, variable): one.tools for name, one in read.servers.items()}


def wrong(path: Path, reason: str) -> ConfigError:
    """The error that tells what is wrong with the file."""
    return ConfigError(f"{SETTING}: {path}: {reason}.")


def _server(path: Path, name: str, one: _Server, variable: Variable) -> McpServer:
    def filled(part: str, values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple((key, secret(f"{part}.{key}", values[key])) for key in values)

    def secret(place: str, value: str) -> str:
        def replace(found: re.Match[str]) -> str:
            if not (held := variable(found[1])):
                raise wrong(path, f"servers.{name}.{place}: the variable {found[1]} is not set")
            return held

        return _SECRET.sub(replace, value)

    return McpServer(
        name,
        one.command,
        filled("environment", one.environment),
        path.resolve().parent,
        one.url,
        filled("headers", one.headers),
    )


def _told(problem: object) -> str:
    assert isinstance(problem, dict)  # noqa: S101  # pydantic's ErrorDetails
    place = ".".join(str(part) for part in problem["loc"])
    reason = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {reason}" if place else reason
