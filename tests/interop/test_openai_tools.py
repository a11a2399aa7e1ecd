"""Tools and structured outputs of LangChain's ChatOpenAI, with Footnote as its model."""

import json

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from tests.api.conftest import bearer
from tests.api.openai.conversations import ANSWER, QUESTION, QUOTE, REPLY
from tests.api.serving import serving
from tests.fakes.openai import Text
from tests.fakes.tool_calls import Call, ToolCalls

CALL = ToolCalls(Call("weather", {"city": "Busan"}, id="call_1"), text="I look.")
JSON = json.dumps({"days": 25, "reason": f'25 days [1: "{QUOTE}"]'})


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


class Leave(BaseModel):
    """Days of leave."""

    days: int = Field(ge=0)
    reason: str


@pytest.fixture(params=[False, True], ids=["chat completions", "responses"])
def chat(request, imported):
    """LangChain's model over either endpoint."""
    services = imported(chat=True)
    with serving(services) as address:
        key = bearer(services)["Authorization"].removeprefix("Bearer ")
        options = {"base_url": f"{address}/v1", "api_key": key, "max_retries": 0, "timeout": 30}
        yield ChatOpenAI(model="footnote", use_responses_api=request.param, **options)


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_are_called_and_their_results_lead_to_the_answer(chat, model_server, streamed):
    model_server.will(CALL, Text(REPLY))
    model = chat.bind_tools([weather])
    messages = [HumanMessage(QUESTION)]

    def ask():
        if not streamed:
            return model.invoke(messages)
        pieces = list(model.stream(messages))
        return sum(pieces[1:], pieces[0])

    messages.append(ask())
    [call] = messages[-1].tool_calls
    assert (call["name"], call["args"], call["id"]) == ("weather", {"city": "Busan"}, "call_1")
    messages.append(weather.invoke(call))
    assert isinstance(messages[-1], ToolMessage)
    assert ask().text.startswith(f"{ANSWER}\n\nSources:\n[1] Leave policy")
    assert "18 degrees in Busan" in str(model_server.requests[-1].body["messages"])


def test_an_agent_of_langchain_runs_with_footnote_as_its_model(chat, model_server):
    model_server.will(CALL, Text(REPLY))
    agent = create_agent(chat, [weather])
    *_, result, answer = agent.invoke({"messages": [HumanMessage(QUESTION)]})["messages"]
    assert result.content == "18 degrees in Busan"
    assert answer.text.startswith(ANSWER)


@pytest.mark.parametrize("choice", ["weather", "any", "auto"])
def test_the_choice_of_a_tool_is_passed_on(chat, model_server, choice):
    model_server.will(CALL)
    chat.bind_tools([weather], tool_choice=choice, parallel_tool_calls=False).invoke(QUESTION)
    named = {"type": "function", "function": {"name": "weather"}}
    body = model_server.requests[0].body
    assert body["tool_choice"] == {"weather": named, "any": "required", "auto": "auto"}[choice]
    assert body["parallel_tool_calls"] is False


@pytest.mark.parametrize("strict", [None, True])
def test_structured_output_by_a_schema(chat, model_server, strict):
    model_server.will(Text(JSON))
    result = chat.with_structured_output(Leave, strict=strict, include_raw=True).invoke(QUESTION)
    assert result["parsed"].days == 25
    assert result["raw"].text == JSON
    assert model_server.requests[0].body["response_format"]["type"] == "json_schema"


def test_structured_output_by_a_function(chat, model_server):
    model_server.will(ToolCalls(Call("Leave", {"days": 25, "reason": "policy"})))
    model = chat.with_structured_output(Leave, method="function_calling")
    assert model.invoke(QUESTION) == Leave(days=25, reason="policy")


def test_structured_output_by_json_mode(chat, model_server):
    model_server.will(Text(JSON))
    model = chat.with_structured_output(Leave, method="json_mode")
    assert model.invoke(f"{QUESTION} Answer as JSON with days and reason.").days == 25
    assert model_server.requests[0].body["response_format"] == {"type": "json_object"}


def test_an_answer_that_does_not_match_the_schema_is_an_error(chat, model_server):
    model_server.will(Text('{"days": "many"}'))
    with pytest.raises(openai.InternalServerError, match="requested format"):
        chat.with_structured_output(Leave).invoke(QUESTION)
