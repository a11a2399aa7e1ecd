"""Who calls: the key of a request, what it allows, and the services it is about."""

import logging
from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.limits import RequestLimit
from api.operations import Operations
from api.problems import ProblemError
from bootstrap import Services
from domain import ApiKey, ApiScope, Principal
from errors import AppError

_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="ApiKey",
    description="A key that `python cli.py api-key create NAME` has made, as a bearer token.",
)
_NO_KEY = "Send an API key as `Authorization: Bearer fn-...`; `cli.py api-key create` makes one."
_WRONG_KEY = "This API key is unknown or was revoked: `cli.py api-key create` makes another one."


class Gate:
    """ASGI middleware: lets only requests with a key pass, and only so many of each.

    All but the paths in `free` is behind it, whatever an operation says of itself. It looks before
    a body is read, so that nobody without a key can have one parsed or kept.
    """

    def __init__(
        self,
        app: ASGIApp,
        services: Services,
        operations: Operations,
        free: frozenset[str],
    ) -> None:
        self._app = app
        self._services = services
        self._operations = operations
        self._free = free
        self._limit = RequestLimit(services.api_limits.requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._operations.at(scope["path"], scope["method"])
        if scope["path"] in self._free:
            await self._app(scope, receive, send)
            return
        key = await self._key(Headers(scope=scope).get("authorization", ""))
        told = self._limit.count(key.id)
        scope.setdefault("state", {})["api_key"] = key
        await self._app(scope, receive, with_headers(send, told))
        # Only now: it may have to wait for another process that writes.
        await run_in_threadpool(self._note_use, key)

    async def _key(self, authorization: str) -> ApiKey:
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise ProblemError(401, _NO_KEY, {"WWW-Authenticate": "Bearer"})
        key = await run_in_threadpool(self._services.api_keys.find, secret.strip())
        if key is None:
            wrong = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            raise ProblemError(401, _WRONG_KEY, wrong)
        return key

    def _note_use(self, key: ApiKey) -> None:
        try:
            self._services.api_keys.note_use(key)
        except AppError as error:  # the answer is out, and the next request notes it
            logging.getLogger("footnote.api").warning("%s", error)


def with_headers(send: Send, told: Mapping[str, str]) -> Send:
    """Sends an answer with these headers where it has none of these names."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in told.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


def services_of(request: Request) -> Services:
    """The services that the app was made over."""
    services: Services = request.app.state.services
    return services


def _caller(
    scopes: SecurityScopes,
    request: Request,
    _told_by_the_description: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> Principal:
    key: ApiKey = request.state.api_key
    missing = [scope for scope in scopes.scopes if scope not in key.scopes]
    if missing:
        raise ProblemError(403, f"This key lacks the scope `{missing[0]}`: use one that has it.")
    return key.principal


OpenServices = Annotated[Services, Depends(services_of)]
"""The services, in an operation's arguments."""

Caller = Annotated[Principal, Security(_caller)]
"""Who calls, in the arguments of an operation that any key may use."""

Reader = Annotated[Principal, Security(_caller, scopes=[ApiScope.READ])]
"""Who reads, in the arguments of an operation that needs a key with the scope `read`."""

Asker = Annotated[Principal, Security(_caller, scopes=[ApiScope.ASK])]
"""Who asks, for the scope `ask`."""

Manager = Annotated[Principal, Security(_caller, scopes=[ApiScope.MANAGE])]
"""Who manages, for the scope `manage`."""
