"""Metrics for Prometheus."""

from fastapi import APIRouter, Response

from api.authentication import MetricsAccess, OpenServices
from bootstrap.server_metrics import prometheus_text

router = APIRouter(include_in_schema=False)
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics")
def metrics(_caller: MetricsAccess, services: OpenServices) -> Response:
    """The metrics of this process and the state of the library, in Prometheus' text format."""
    return Response(prometheus_text(services.status), media_type=_CONTENT_TYPE)
