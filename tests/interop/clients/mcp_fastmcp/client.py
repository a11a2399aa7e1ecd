"""Calls Footnote with the client of FastMCP, and prints what it receives as JSON.

Run by the Python of .venv-mcp-fastmcp (`make clients`), never imported.
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import MCPError
from mcp_types import PromptReference

config = json.loads(sys.argv[1])
QUESTION = config["question"]


def over_http(secret):
    return StreamableHttpTransport(config["url"], auth=secret)


def over_stdio():
    program, *arguments = config["command"]
    return StdioTransport(program, arguments, env=config["environment"], keep_alive=False)


async def received(transport):
    async with Client(transport) as client:
        tools = await client.list_tools()
        prompts = await client.list_prompts()
        resources = await client.list_resources()
        templates = await client.list_resource_templates()
        [policy] = [one.uri for one in resources if one.title == "Leave policy"]
        [document] = await client.read_resource(policy)
        prompt = await client.get_prompt("ask_library", {"question": QUESTION})
        search = await client.call_tool("search_documents", {"query": QUESTION})
        ask = await client.call_tool("ask_documents", {"question": QUESTION})
        options = {"query": QUESTION, "k": 1000}
        wrong = await client.call_tool("search_documents", options, raise_on_error=False)
        reference = PromptReference(name="ask_library")
        completed = await client.complete(reference, {"name": "collection", "value": "hand"})
        server, instructions = client.server_info, client.instructions
    return {
        "server": server.name,
        "instructions": instructions,
        "tools": [one.name for one in tools],
        "prompts": [one.name for one in prompts],
        "resources": [one.title for one in resources],
        "templates": [one.uri_template for one in templates],
        "document": document.text,
        "prompt": prompt.messages[0].content.text,
        "search": search.structured_content,
        "ask": ask.structured_content,
        "collections": completed.values,
        "wrong argument": wrong.content[0].text if wrong.is_error else "",
    }


async def wrong_key():
    try:
        async with Client(over_http("fn-wrong")):
            return ""
    except MCPError as error:
        return str(error)


async def main():
    http = await received(over_http(config["key"]))
    stdio = await received(over_stdio())
    json.dump({"http": http, "stdio": stdio, "wrong key": await wrong_key()}, sys.stdout)


asyncio.run(main())
