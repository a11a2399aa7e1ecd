"""The library as an MCP server, over standard input and output or HTTP.

Tools come from `services.agent`; this package adds structured output, scopes, and progress. Only
`commands` imports this package, lazily, because the MCP library is slow to load.
"""
