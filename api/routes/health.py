"""Whether the API lives, and whether it can answer."""

import logging

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.access import OpenServices
from api.problems import ProblemError, problem_responses
from errors import AppError

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process is there."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: str = Field(description="Always `ok`")


class Readiness(BaseModel):
    """The ledger and the index that answers can be read."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ready"}]})

    status: str = Field(description="Always `ready`; otherwise the answer is 503")


@router.get("/health", responses=problem_responses(422))
async def health() -> Health:
    """Whether the process lives.

    Touches nothing, and so answers however busy the rest is.
    """
    return Health(status="ok")


@router.get("/ready", responses=problem_responses(422))
def ready(services: OpenServices) -> Readiness:
    """Whether questions can be answered now.

    Reads the ledger and opens the index. Why they can't be read stands in the server's log, since
    this needs no key.
    """
    try:
        services.library.open_index()
    except AppError as error:
        logging.getLogger("footnote.api").exception("Not ready")
        raise ProblemError(503, "The library can't be read; the server's log says why.") from error
    return Readiness(status="ready")
