"""What people think of answers, and asking again what they thought of."""

from collections.abc import Generator

from fastapi import APIRouter, Request

from api.access import Asker, OpenServices, Reader
from api.paging import FIRST, Limit, Offset
from api.problems import ProblemError, problem_responses
from api.routes.ids import TurnId
from api.schemas.judgements import GivenRating, Rated, RatedPage, Rating, Replay
from api.streaming import GONE, OpenStreams, read_unless_gone
from services import ratings

router = APIRouter(prefix="/ratings", tags=["feedback"])
ONE = problem_responses(404)


@router.get("")
def list_ratings(
    services: OpenServices, principal: Reader, limit: Limit = FIRST, offset: Offset = 0
) -> RatedPage:
    """List what you thought of answers, the newest first, save in deleted conversations."""
    given = services.ratings.list(principal)
    items = [Rated.model_validate(one) for one in given[offset : offset + limit]]
    return RatedPage(items=items, total=len(given))


@router.get("/{turn_id}", responses=ONE)
def read_rating(services: OpenServices, principal: Reader, turn_id: TurnId) -> Rating:
    """Read what you thought of an answer."""
    rating = services.ratings.rating(principal, turn_id)
    if rating is None:
        raise ProblemError(404, f"You have not rated an answer {turn_id}.")
    return Rating.model_validate(rating)


@router.put("/{turn_id}", responses=ONE)
def put_rating(
    services: OpenServices, principal: Asker, turn_id: TurnId, given: GivenRating
) -> Rating:
    """Say what you think of an answer, in place of what you said before.

    A thumb up labels the passages that the answer verifiably cites as right for its question. So
    does one down as not right, unless its reason says nothing of passages.
    """
    kept = services.ratings.rate(principal, turn_id, given.grade, given.reason, given.comment)
    return Rating.model_validate(kept)


@router.delete("/{turn_id}", status_code=204, responses=ONE)
def delete_rating(services: OpenServices, principal: Asker, turn_id: TurnId) -> None:
    """Take back what you said of an answer, and the labels that came of it."""
    services.ratings.rate(principal, turn_id, None)


@router.post("/{turn_id}/replay", responses=problem_responses(404, 409, 502))
async def replay_answer(
    services: OpenServices,
    principal: Asker,
    streams: OpenStreams,
    turn_id: TurnId,
    request: Request,
) -> Replay:
    """Ask a turn's question again, searched as it was, of the library as it is; keeps nothing."""

    def replaying() -> Generator[ratings.Replay, None, None]:
        yield services.ratings.replay(principal, turn_id)

    replays = await read_unless_gone(streams.start(replaying), request)
    if replays is None:
        return GONE  # type: ignore[return-value]  # read by nobody
    return Replay.model_validate(replays[0])
