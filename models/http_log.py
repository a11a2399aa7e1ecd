"""The HTTP client for OpenAI's client, which logs each request."""

import os
from typing import Any

import httpx2
from openai import DefaultHttpxClient

from domain.logs import outgoing_request
from domain.web.address_guard import AddressGuard
from models.guarded_http import guard_connections

_RETRY_HEADER = "x-stainless-retry-count"
"""Set by OpenAI's client, which counts its retries from 0."""


class LoggedHttpClient(DefaultHttpxClient):
    """OpenAI's default client with logging and the proxy that LangChain would set.

    It connects only to addresses that the guard permits; None permits all.
    """

    def __init__(self, guard: AddressGuard | None = None, **options: Any) -> None:
        # LangChain takes the proxy from the environment when it creates the client itself.
        super().__init__(proxy=os.environ.get("OPENAI_PROXY") or None, **options)
        guard_connections(self, guard)

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send and log the request."""
        retries = request.headers.get(_RETRY_HEADER, "")
        attempt = int(retries) + 1 if retries.isdecimal() else None
        with outgoing_request(request.method, str(request.url), attempt) as sent:
            response = super().send(request, **options)
            sent.status = response.status_code
        return response
