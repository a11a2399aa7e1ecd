"""The library's tools, an agent that calls them, and tools of external MCP servers.

The agent streams the same pieces as the chain, so `services.chat` can answer with either.
`bootstrap` builds an agent for each question. External agents and the MCP server in `api/mcp` also
use `agent_tools` and `tool_results`. `agent_middleware` loads LangChain's agents and is imported
lazily.
"""
