"""What a process of the API takes at most."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Bounds of one process of the API, and whose web pages may call it.

    `answers` is how many are written at once; `max_file_bytes` bounds one file that is uploaded.
    """

    requests_per_minute: int
    answers: int
    max_file_bytes: int
    cors_origins: tuple[str, ...] = ()
