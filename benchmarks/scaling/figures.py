"""Measured figures on which the model is built; docs/scaling.md says where each comes from."""

import math
from dataclasses import dataclass
from typing import Final

_Z95: Final = 1.6449
"""The 95th percentile of the standard normal distribution."""


@dataclass(frozen=True)
class ServiceTime:
    """The processor time of a question, as a log-normal distribution with this p50 and p95."""

    name: str
    p50_s: float
    p95_s: float

    @property
    def mu(self) -> float:
        """The mean of the logarithm."""
        return math.log(self.p50_s)

    @property
    def sigma(self) -> float:
        """The standard deviation of the logarithm."""
        return math.log(self.p95_s / self.p50_s) / _Z95

    @property
    def mean_s(self) -> float:
        """The mean, which is above the p50."""
        return math.exp(self.mu + self.sigma**2 / 2)


EXTRACTIVE = ServiceTime("built-in answerer", 0.127, 0.171)
"""`python -m benchmarks --only answering`, 2026-11-24: wall time of a warm question, alone."""
CHAT_MODEL = ServiceTime("chat model elsewhere", 0.103, 0.139)
"""`--only api`, 2026-11-22: processor time of an answer of 100 tokens; the spread is assumed."""
PEOPLE_PAUSE_S = 25.0
"""Between an answer and the next question of a person (`benchmarks.load`)."""

EMBEDDED_PER_CORE_S = 28.3
"""Passages of 120 words: 56.6 per second on two cores (`--only import_run`, 2026-11-21)."""
WRITTEN_S = 305.0
"""Passages to OpenSearch with one client, into a million (`benchmarks.opensearch`, 2026-11-26)."""
BATCH_PASSAGES = 256
"""Passages between two writes of an import."""

SEARCH_DISK_BYTES = 7_170
SEARCH_CACHE_BYTES = 1_830
"""Per passage of 60 words and copy (`benchmarks.opensearch`, 2026-11-26)."""
SEARCH_DISK_FACTOR = 2.0
"""Disk to provide for each byte of the copies: reindexing and merges."""
