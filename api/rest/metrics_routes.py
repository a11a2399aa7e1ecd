"""Metrics for Prometheus."""

from fastapi import APIRouter, Response

from api.authentication import ManageAccess, OpenServices
from bootstrap.process_metrics import prometheus_text

router = APIRouter(include_in_schema=False)
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics")
def metrics(_caller: ManageAccess, services: OpenServices) -> Response:
    """The metrics of all processes on this machine, in Prometheus' text format."""
    return Response(prometheus_text(services.status), media_type=_CONTENT_TYPE)
