"""The services over HTTP: a REST API, and an endpoint that speaks OpenAI's protocol."""
