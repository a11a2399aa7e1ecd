"""The services as tools of a language model, an agent over them, and an MCP server."""
