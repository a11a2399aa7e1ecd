"""The services over HTTP: REST (`rest`), OpenAI's protocol (`openai`), and MCP (`mcp`).

The modules directly in this package serve both REST and OpenAI: authentication, checks of
requests, problem details, streaming, and the OpenAPI description. `commands` starts the servers;
nothing else imports this package.
"""
