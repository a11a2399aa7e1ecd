"""The MCP server over streamable HTTP, behind API keys."""

from typing import Any, Protocol

import anyio.to_thread
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from agent.mcp_server import make_mcp_server
from agent.mcp_tools import McpServices
from services.api_keys import ApiKeyService
from web.guard import DATA_HEADERS, App, HostGuard
from web.policy import HostPolicy

PATH = "/mcp"


class KeyedServices(McpServices, Protocol):
    """What the server needs where keys are asked for."""

    @property
    def api_keys(self) -> ApiKeyService:
        """Tells keys apart."""


class Keys:
    """Finds the key that a bearer token is, as the package for MCP asks for it."""

    def __init__(self, api_keys: ApiKeyService) -> None:
        """Args: the keys."""
        self._api_keys = api_keys

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose key it is and what it allows; None where there is none, or it was revoked."""
        key = await anyio.to_thread.run_sync(self._api_keys.find, token)
        if key is None:
            return None
        return AccessToken(
            token=token, client_id=key.id, scopes=sorted(key.scopes), subject=key.user_id
        )


def make_mcp_app(services: KeyedServices, policy: HostPolicy) -> App:
    """The app, at `/mcp`; who has no key is answered 401, and 403 what the policy refuses."""
    server: Any = make_mcp_server(services)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        # The guard does this for every server.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        # No server hands out tokens: `cli.py api-key create` does. The address is never told.
        auth=AuthSettings(
            issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None, required_scopes=[]
        ),
        token_verifier=Keys(services.api_keys),
    )
    return HostGuard(app, policy, DATA_HEADERS)
