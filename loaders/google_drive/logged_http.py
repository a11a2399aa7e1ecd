"""The HTTP client for Google Drive, which logs each request; importing it is slow."""

from typing import Any

import httplib2  # type: ignore[import-untyped]

from domain.logs import outgoing_request


class LoggedHttp(httplib2.Http):  # type: ignore[misc]  # untyped base class
    """Logs each request, including sign-ins."""

    def request(self, uri: str, method: str = "GET", *args: Any, **options: Any) -> Any:
        """Send and log the request."""
        with outgoing_request(method, uri) as sent:
            response, content = super().request(uri, method, *args, **options)
            sent.status = response.status
        return response, content
