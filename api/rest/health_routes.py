"""What other programs watch: whether the process is alive and can answer, and metrics."""

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict

from api.authentication import MetricsCall
from api.field_types import Schema
from api.problems import ProblemError, problem_responses
from bootstrap.server_metrics import prometheus_text

router = APIRouter(tags=["health"])


class Health(Schema):
    """The process is alive."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: str
    """Always `ok`"""


class Readiness(Schema):
    """The library can be searched."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ready"}]})

    status: str
    """Always `ready`; a process that is not ready responds with 503"""


@router.get("/health", responses=problem_responses(422))
async def health() -> Health:
    """Check whether the process is alive.

    It accesses nothing else and therefore responds even under load.
    """
    return Health(status="ok")


@router.get("/ready", responses=problem_responses(422))
async def ready(request: Request) -> Readiness:
    """Check whether questions can be answered.

    It searches the library, which may take up to five seconds. The reason for a failure is only in
    the server's log, because this needs no key.
    """
    if not await request.app.state.probe.is_ready():
        raise ProblemError(503, "The library can't be searched; the server's log says why.")
    return Readiness(status="ready")


root_router = APIRouter(include_in_schema=False)
"""The paths that Kubernetes, load balancers, and Prometheus use by convention."""
root_router.add_api_route("/healthz", health, methods=["GET", "HEAD"])
root_router.add_api_route("/readyz", ready, methods=["GET", "HEAD"])
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@root_router.get("/metrics")
def metrics(call: MetricsCall) -> Response:
    """The metrics of this process and the state of the library, in Prometheus' text format."""
    return Response(prometheus_text(call.services.status), media_type=_CONTENT_TYPE)
