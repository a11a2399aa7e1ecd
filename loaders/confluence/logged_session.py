"""The HTTP session for a Confluence site, which logs each request; importing it is slow."""

from typing import Any

from requests import PreparedRequest, Response, Session

from domain.logs import outgoing_request


class LoggedSession(Session):
    """Logs each request, including every step of a redirect."""

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        """Send and log the request."""
        with outgoing_request(request.method or "", request.url or "") as sent:
            response = super().send(request, **options)
            sent.status = response.status_code
        return response
