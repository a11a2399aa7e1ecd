"""Which passages are right for which questions."""

from fastapi import APIRouter

from api.access import Asker, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import problem_responses
from api.routes.ids import LabelId
from api.schemas.judgements import GivenLabel, Label, LabelPage
from bootstrap import Services
from domain import Principal
from services.labels import Label as Kept
from services.labels import LabelOrigin

router = APIRouter(prefix="/labels", tags=["labels"])


@router.get("")
def list_labels(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> LabelPage:
    """List your labels, the oldest first."""
    kept = services.labels.list(principal)
    items = [_told(services, principal, one) for one in kept[offset : offset + limit]]
    return LabelPage(items=items, total=len(kept))


@router.put("", responses=problem_responses(404))
def put_label(services: OpenServices, principal: Asker, given: GivenLabel) -> Label:
    """Say that a passage is right for a question, or is not.

    It replaces what you said of that passage and question before.
    """
    kept = services.labels.label(
        principal, given.question, given.passage_id, given.grade, LabelOrigin.API
    )
    return _told(services, principal, kept)


@router.delete("/{label_id}", status_code=204, responses=problem_responses(404))
def delete_label(services: OpenServices, principal: Asker, label_id: LabelId) -> None:
    """Take a label back."""
    services.labels.discard(principal, label_id)


def _told(services: Services, principal: Principal, kept: Kept) -> Label:
    held = {name: getattr(kept, name) for name in Label.model_fields if name != "id"}
    return Label(id=services.labels.id_of(principal, kept), **held)
