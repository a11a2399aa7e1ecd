"""What the servers of pages, API and MCP share: who may talk to them, and safe response headers."""
