"""Builds the ASGI application of the API."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware

from api.authentication import AuthenticationMiddleware
from api.openai import openai_error_responses as openai_errors
from api.openai import openai_routes
from api.openapi_description import describe
from api.problems import (
    COMMON_RESPONSES,
    ProblemMiddleware,
    Responder,
    respond_to_refusal,
    respond_with_problems,
)
from api.readiness import SearchProbe
from api.request_bodies import Operations, RequestBodyMiddleware
from api.rest import (
    access_routes,
    catalog_routes,
    conversation_routes,
    document_routes,
    health_routes,
    import_routes,
    judgment_routes,
    place_routes,
    question_routes,
    search_routes,
    sharing_routes,
    source_routes,
    upload_routes,
)
from api.streaming import Streams
from bootstrap import Services, following
from bootstrap.hosting import make_host_policy
from domain.web.host_guard import DATA_HEADERS, HostGuard
from domain.web.request_log import REQUEST_ID, RequestLog

PREFIX = "/api/v1"
OPENAI_PREFIX = "/v1"
"""The prefix that OpenAI's clients append to a host; the routes below it speak their protocol."""
ROUTERS = (
    conversation_routes.router,
    sharing_routes.router,
    question_routes.router,
    catalog_routes.router,
    place_routes.router,
    health_routes.router,
    search_routes.router,
    judgment_routes.labels_router,
    judgment_routes.feedback_router,
    judgment_routes.evaluation_router,
    source_routes.router,
    import_routes.router,
    document_routes.router,
    access_routes.router,
    upload_routes.router,
)
"""The routers below `PREFIX`."""

PROBES = frozenset({f"{PREFIX}/health", f"{PREFIX}/ready", "/healthz", "/readyz"})
"""The paths of the health checks."""
PUBLIC_PATHS = PROBES | {f"{PREFIX}/openapi.json"}
"""The paths that require no key."""

OTHER_RESPONDERS: Mapping[str, Responder] = {f"{OPENAI_PREFIX}/": openai_errors.respond}
"""Responders for errors in formats other than problem details, by path prefix."""

_HEADERS = {**DATA_HEADERS, "Cache-Control": "no-store"}
"""Responses contain private documents: they must not be cached or sniffed."""
_EXPOSED_HEADERS = (
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    REQUEST_ID,
)


def make_app(services: Services, bound: str = "") -> FastAPI:
    """The API over these services, for a server that listens on the address `bound`.

    There is no documentation page for `/api/v1/openapi.json`, because it would load scripts from
    other hosts. Paths are not redirected, because the target would be built from the untrusted
    `Host` header.
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
    app.state.latest_services = following(services)
    app.state.probe = SearchProbe(app.state.latest_services.get)
    app.state.streams = Streams(services.api_limits.answers)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX, responses=COMMON_RESPONSES)
    app.include_router(health_routes.root_router)
    app.include_router(
        openai_routes.router, prefix=OPENAI_PREFIX, responses=openai_errors.COMMON_RESPONSES
    )
    _guard(app, services, bound)
    describe(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    # Otherwise the process might exit before a stopped answer is stored.
    await run_in_threadpool(app.state.streams.wait_until_ended)


def _guard(app: FastAPI, services: Services, bound: str) -> None:
    # Middleware added later wraps the middleware added earlier.
    operations, limits = Operations(app), services.api_limits
    app.add_middleware(
        RequestBodyMiddleware,
        operations=operations,
        max_file_bytes=limits.max_file_bytes,
        # Clients of other OpenAI-compatible servers send parameters such as `api-version`.
        lenient=(f"{OPENAI_PREFIX}/",),
    )
    # Inside the authentication, so that rejected bodies count against the rate limit and have its
    # headers.
    app.add_middleware(ProblemMiddleware)
    app.add_middleware(
        AuthenticationMiddleware,
        callers=services.callers,  # not the services, which are replaced after a change
        requests_per_minute=limits.requests_per_minute,
        operations=operations,
        public_paths=PUBLIC_PATHS,
    )
    respond_with_problems(app, OTHER_RESPONDERS)
    if limits.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=limits.cors_origins,
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("*",),  # clients send headers of their own, such as X-Stainless-Lang
            expose_headers=_EXPOSED_HEADERS,
        )
    app.add_middleware(
        HostGuard,
        policy=make_host_policy(services.parts.settings, bound, origins=limits.cors_origins),
        headers=_HEADERS,
        probes=PROBES,
        respond=respond_to_refusal,
    )
    app.add_middleware(RequestLog, probes=PROBES)
