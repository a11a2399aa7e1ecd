"""Calls Footnote with LangChain's MCP client, and prints what it receives as JSON.

Run by the Python of .venv-mcp-langchain (`make clients`), never imported.
"""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.types import PromptReference

config = json.loads(sys.argv[1])
QUESTION = config["question"]


def over_http(secret):
    headers = {"Authorization": f"Bearer {secret}"}
    return {"transport": "streamable_http", "url": config["url"], "headers": headers}


def over_stdio():
    program, *arguments = config["command"]
    environment = config["environment"]
    return {"transport": "stdio", "command": program, "args": arguments, "env": environment}


def connected(connection):
    return MultiServerMCPClient({"footnote": connection}).session("footnote", auto_initialize=False)


async def call(tool, arguments):
    return await tool.ainvoke(
        {"type": "tool_call", "id": "1", "name": tool.name, "args": arguments}
    )


async def received(connection):
    async with connected(connection) as session:
        server = await session.initialize()
        tools = {tool.name: tool for tool in await load_mcp_tools(session, handle_tool_errors=True)}
        prompts = (await session.list_prompts()).prompts
        listed = (await session.list_resources()).resources
        templates = (await session.list_resource_templates()).resourceTemplates
        [policy] = [one.uri for one in listed if one.title == "Leave policy"]
        [document] = await load_mcp_resources(session, uris=str(policy))
        prompt = await load_mcp_prompt(session, "ask_library", arguments={"question": QUESTION})
        search = await call(tools["search_documents"], {"query": QUESTION})
        ask = await call(tools["ask_documents"], {"question": QUESTION})
        wrong = await call(tools["search_documents"], {"query": QUESTION, "k": 1000})
        reference = PromptReference(type="ref/prompt", name="ask_library")
        completed = await session.complete(reference, {"name": "collection", "value": "hand"})
    return {
        "server": server.serverInfo.name,
        "instructions": server.instructions,
        "tools": list(tools),
        "prompts": [one.name for one in prompts],
        "resources": [one.title for one in listed],
        "templates": [one.uriTemplate for one in templates],
        "document": document.as_string(),
        "prompt": prompt[0].text,
        "search": search.artifact["structured_content"],
        "ask": ask.artifact["structured_content"],
        "collections": completed.completion.values,
        "wrong argument": wrong.text if wrong.status == "error" else "",
    }


async def wrong_key():
    try:
        await MultiServerMCPClient({"footnote": over_http("fn-wrong")}).get_tools()
    except ExceptionGroup as errors:
        return " ".join(messages(errors))
    return ""


def messages(error):
    if not isinstance(error, ExceptionGroup):
        return [str(error)]
    return [message for one in error.exceptions for message in messages(one)]


async def main():
    http = await received(over_http(config["key"]))
    stdio = await received(over_stdio())
    json.dump({"http": http, "stdio": stdio, "wrong key": await wrong_key()}, sys.stdout)


asyncio.run(main())
