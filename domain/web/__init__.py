"""Restricts hosts and origins of the page, API, and MCP servers, and adds security headers.

`host_policy` decides, and the ASGI middleware in `host_guard` enforces the decision. Every server
uses both. `retry_after` reads a header of other servers. The package imports no other layer.
"""
