"""How many requests a key may send."""

import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from api.problems import ProblemError


class RequestLimit:
    """At most so many requests of a key in any minute.

    Each process counts its own: several of them together let as many times more through.
    """

    def __init__(self, requests_per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(requests_per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def count(self, key_id: str) -> dict[str, str]:
        """Count a request.

        Returns:
            The headers that tell the bound, what is left of it, and the seconds until the oldest
            request counts no more.

        Raises:
            ProblemError: 429, the key has sent too many; when to try again stands in its headers.
        """
        allowed = self._limiter.hit(self._item, key_id)
        reset_time, remaining = self._limiter.get_window_stats(self._item, key_id)
        seconds = str(max(1, math.ceil(reset_time - time.time())))
        told = {
            "RateLimit-Limit": str(self._item.amount),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": seconds,
        }
        if not allowed:
            detail = f"More than {self._item.amount} requests within a minute with this key."
            raise ProblemError(429, detail, {**told, "Retry-After": seconds})
        return told
