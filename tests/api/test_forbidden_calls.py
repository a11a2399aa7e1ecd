"""What each face says if the caller's role does not permit a call."""

from types import SimpleNamespace

import pytest
from mcp import MCPError
from mcp_types import INVALID_REQUEST

import cli
from api.authentication import Call
from api.mcp.mcp_prompts import prompt_of
from api.mcp.mcp_tools import call_tool
from api.openai.openai_error_responses import body_of, respond
from api.problems import problem_of_error
from domain import Principal, Role
from domain.errors import ForbiddenError
from services.access import require_role
from services.long_work import ignore

ANNA = Principal("anna")
REASON = "This needs the role admin, and you have the role reader: ask an administrator."


def refuse(principal=ANNA, *_arguments, **_options):
    require_role(principal, Role.ADMIN)


SERVICES = SimpleNamespace(
    sources=SimpleNamespace(list=refuse),
    search=SimpleNamespace(search=refuse, condition=refuse),
)


def test_openai_clients_get_a_permission_error():
    error = ForbiddenError(REASON)
    assert body_of(error).model_dump()["error"] == {
        "message": REASON,
        "type": "permission_error",
        "param": None,
        "code": "insufficient_permissions",
    }
    response = respond(problem_of_error(error), {}, error)
    assert (response.status_code, response.headers["x-should-retry"]) == (403, "false")


def test_an_mcp_tool_fails_with_the_reason():
    result = call_tool(Call(SERVICES, ANNA), "list_sources", {}, ignore)
    assert result.is_error
    assert result.content[0].text == f"Failed: {REASON}"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("ask_library", {"question": "Leave?"}), ("summarize_document", {"document": "Leave"})],
)
def test_an_mcp_prompt_is_refused_with_the_reason(name, arguments):
    with pytest.raises(MCPError, match=REASON) as raised:
        prompt_of(Call(SERVICES, ANNA), name, arguments)
    assert raised.value.error.code == INVALID_REQUEST


def test_a_command_prints_the_reason_on_one_line(monkeypatch, capsys):
    monkeypatch.setattr(cli, "app", refuse_command)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"Footnote: {REASON}\n"


def refuse_command(prog_name):
    refuse()
