"""The library as an MCP server, over standard input and output or HTTP: the third face of the API.

Tools come from `services.agent`; here they get structured output, scopes, and progress. Only
`commands` imports this package, lazily, because the MCP library is slow to load.
"""
