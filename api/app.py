"""The application that a server runs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware

from api.access import Gate
from api.bodies import Bodies
from api.description import describe
from api.openai import errors as openai_errors
from api.openai import routes as openai_routes
from api.operations import Operations
from api.problems import (
    EVERYWHERE,
    Problems,
    Responder,
    respond_to_refusal,
    respond_with_problems,
)
from api.routes import ROUTERS
from api.streaming import Streams
from bootstrap import Services
from web.guard import DATA_HEADERS, HostGuard

PREFIX = "/api/v1"
OPENAI_PREFIX = "/v1"
"""Where OpenAI's clients look below an address; what is here speaks their protocol."""
PROBES = frozenset(f"{PREFIX}/{name}" for name in ("health", "ready"))
"""What orchestrators ask."""
FREE = PROBES | {f"{PREFIX}/openapi.json"}
"""What needs no key."""

OTHER_RESPONDERS: Mapping[str, Responder] = {f"{OPENAI_PREFIX}/": openai_errors.respond}
"""Who tells errors below other paths in another form, by the beginning of the path."""

_HEADERS = {**DATA_HEADERS, "Cache-Control": "no-store"}
"""Answers hold people's documents, so nobody keeps or reinterprets them."""
_READABLE = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After")


def make_app(services: Services, bound: str = "") -> FastAPI:
    """The API over these services, for a server that listens on the address `bound`.

    Its description is at `/api/v1/openapi.json`; there is no page that shows it, since those load
    their scripts from elsewhere. No address is redirected: where to would be told by a request's
    `Host`, which nothing here trusts.
    """
    app = FastAPI(
        title="Footnote",
        version="1",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        lifespan=_lifespan,
    )
    app.state.services = services
    app.state.streams = Streams(services.api_limits.answers)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX, responses=EVERYWHERE)
    app.include_router(
        openai_routes.router, prefix=OPENAI_PREFIX, responses=openai_errors.EVERYWHERE
    )
    _guard(app, services, bound)
    describe(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    # Without this the process might be gone before a stopped answer is kept.
    await run_in_threadpool(app.state.streams.wait_for_ends)


def _guard(app: FastAPI, services: Services, bound: str) -> None:
    # What is added last is outermost.
    operations, limits = Operations(app), services.api_limits
    app.add_middleware(
        Bodies,
        operations=operations,
        max_file_bytes=limits.max_file_bytes,
        # Clients made for others who speak OpenAI's protocol send what those know: `api-version`.
        lenient=(f"{OPENAI_PREFIX}/",),
    )
    app.add_middleware(Problems)  # what is refused here has counted, and says so in its headers
    app.add_middleware(Gate, services=services, operations=operations, free=FREE)
    respond_with_problems(app, OTHER_RESPONDERS)
    if limits.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=limits.cors_origins,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("Authorization", "Content-Type"),
            expose_headers=_READABLE,
        )
    app.add_middleware(
        HostGuard,
        policy=services.host_policy(bound, origins=limits.cors_origins),
        headers=_HEADERS,
        probes=PROBES,
        respond=respond_to_refusal,
    )
