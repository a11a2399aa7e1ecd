"""Authentication by keys and tokens, scopes and rate limits, and the services for operations."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import anyio
import anyio.to_thread
from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import ProblemError
from api.request_bodies import Operations
from bootstrap import LatestServices, Services
from domain import ApiKey, ApiScope, Principal
from domain.errors import AppError, SignInError, SignInUnavailableError
from domain.logs import get_logger
from domain.messages import COMMAND
from services.access import require_role
from services.caller_service import ROLES, ApiCaller, CallerService


class RequestLimit:
    """Limits the requests per key in any minute (a moving window).

    Each process counts separately, so several processes allow several times as many.
    """

    def __init__(self, requests_per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(requests_per_minute)
        self._requests = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._requests)
        self._latest = 0.0

    def count(self, key_id: str) -> dict[str, str]:
        """Count a request.

        Returns:
            The headers with the limit, the remaining requests, and the seconds until the oldest
            request no longer counts.

        Raises:
            ProblemError: 429, the limit is exceeded; the headers say when to retry.
        """
        self._forget_future()
        allowed = self._limiter.hit(self._item, key_id)
        reset_time, remaining = self._limiter.get_window_stats(self._item, key_id)
        seconds = str(max(1, math.ceil(reset_time - time.time())))
        headers = {
            "RateLimit-Limit": str(self._item.amount),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": seconds,
        }
        if not allowed:
            detail = f"This key sent more than {self._item.amount} requests within a minute."
            raise ProblemError(429, detail, {**headers, "Retry-After": seconds})
        return headers

    def _forget_future(self) -> None:
        """Forget all requests if the clock was set back; they would count until it catches up."""
        now = time.time()
        if now < self._latest - self._item.get_expiry():
            self._requests.reset()
        self._latest = now


_CREATE_KEY = f"{COMMAND} api-key create NAME --scope read --scope ask"
_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="ApiKey",
    description=f"An API key, which `{_CREATE_KEY}` creates, or a token of the OpenID provider.",
)
_NO_KEY = f"Send an API key as `Authorization: Bearer fn-...`; `{_CREATE_KEY}` creates one."
_TOKEN_THREADS = 8
_INVALID = {"WWW-Authenticate": 'Bearer error="invalid_token"'}


class AuthenticationMiddleware:
    """ASGI middleware: requires a valid key or token, and limits the requests of each caller.

    It protects all paths except `public_paths`, whatever their operations declare. It runs before
    the body is read, so that bodies without a key are neither parsed nor stored.
    """

    def __init__(
        self,
        app: ASGIApp,
        callers: CallerService,
        requests_per_minute: int,
        operations: Operations,
        public_paths: frozenset[str],
    ) -> None:
        self._app = app
        self._verifier = Verifier(callers)
        self._operations = operations
        self._public_paths = public_paths
        self._limit = RequestLimit(requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on an authorized request.

        Raises:
            ProblemError: 401 without a valid key or token, 404 or 405 for an unknown operation, 429
                beyond the rate limit.
            SignInUnavailableError: The token can't be checked now.
        """
        if scope["type"] == "http":
            self._operations.at(scope["path"], scope["method"])
        if scope["type"] != "http" or scope["path"] in self._public_paths:
            await self._app(scope, receive, send)
            return
        caller = await self._caller(Headers(scope=scope).get("authorization", ""))
        headers = self._limit.count(caller.id)
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, with_headers(send, headers))
        # After the response, because recording the use may have to wait for another writer.
        await run_in_threadpool(self._note_use, caller)

    async def _caller(self, authorization: str) -> ApiCaller:
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise ProblemError(401, _NO_KEY, {"WWW-Authenticate": "Bearer"})
        return await self._verifier.caller(secret.strip())

    def _note_use(self, caller: ApiCaller) -> None:
        try:
            self._verifier.callers.note_use(caller)
        except AppError as error:  # the response has been sent; the next request tries again
            get_logger("api").warning("%s", error)


class Verifier:
    """Verifies keys and tokens in threads.

    Tokens have their own limit of threads, so that waiting for the provider never delays requests
    with keys.
    """

    def __init__(self, callers: CallerService) -> None:
        self.callers = callers
        self._token_threads = anyio.CapacityLimiter(_TOKEN_THREADS)

    async def caller(self, secret: str) -> ApiCaller:
        """Who sent this key or token.

        Raises:
            ProblemError: 401, it is not valid.
            SignInUnavailableError: The token can't be checked now.
        """
        limiter = self._token_threads if self.callers.is_token(secret) else None
        try:
            return await anyio.to_thread.run_sync(self.callers.caller, secret, limiter=limiter)
        except SignInUnavailableError:
            raise
        except SignInError as error:
            raise ProblemError(401, str(error), _INVALID) from error


def with_headers(send: Send, extra: Mapping[str, str]) -> Send:
    """A `send` that adds these headers to a response, unless it already has them."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in extra.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation."""

    services: Services
    """The services for the current settings"""
    principal: Principal
    """The caller"""


def _call(
    scopes: SecurityScopes,
    request: Request,
    _documented: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> Call:
    caller: ApiCaller = request.state.caller
    missing = [scope for scope in scopes.scopes if scope not in caller.scopes]
    if missing and isinstance(caller.origin, ApiKey):
        raise ProblemError(403, f"This key lacks the scope `{missing[0]}`: use a key that has it.")
    if missing:
        require_role(caller.principal, ROLES[ApiScope(missing[0])])
    latest: LatestServices = request.app.state.latest_services
    return Call(latest.get(), caller.principal)


AnyCall = Annotated[Call, Security(_call)]
"""The call of an operation that any key may use, as its argument."""

ReadCall = Annotated[Call, Security(_call, scopes=[ApiScope.READ])]
"""The call of an operation that requires the scope `read`, as its argument."""

AskCall = Annotated[Call, Security(_call, scopes=[ApiScope.ASK])]
"""The call of an operation that requires the scope `ask`, as its argument."""

ManageCall = Annotated[Call, Security(_call, scopes=[ApiScope.MANAGE])]
"""The call of an operation that requires the scope `manage`, as its argument."""

MetricsCall = Annotated[Call, Security(_call, scopes=[ApiScope.METRICS])]
"""The call of an operation that requires the scope `metrics`, as its argument."""
