"""Time and memory of searching words in the titles, questions, and answers of conversations.

Memory is what Python allocates at the same time for one page of the list.
"""

import tempfile
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measure import MIB, Report, milliseconds_of
from benchmarks.page_library import fill
from domain import LOCAL_USER

SMALL = {"conversations": 30, "repetitions": 2}
PAGE = 50
SEARCHES = {
    "a word of every conversation": ["sentence"],
    "three words of every conversation": ["sentence", "team", "part"],
    "a word of no conversation": ["unwritten"],
}
BOUND_MS = 500


def measure(*, cache: str, conversations: int = 4_300, repetitions: int = 10) -> Report:  # noqa: ARG001
    report = Report(
        "Words in conversations",
        f"the first page of {PAGE} and the total, of {conversations:,} conversations with three"
        " turns each",
    )
    with tempfile.TemporaryDirectory(prefix="footnote-words-") as data_dir:
        fill(data_dir, 1, conversations)
        for name, words in SEARCHES.items():
            _measure(report, data_dir, name, words, repetitions)
    return report


def _measure(
    report: Report, data_dir: str, name: str, words: Sequence[str], repetitions: int
) -> None:
    from storage.ledger.conversation_list_store import ConversationList
    from storage.ledger.database import open_database

    conversations = ConversationList(open_database(Path(data_dir)))

    def search(words: Sequence[str]) -> None:
        conversations.page(LOCAL_USER, words, limit=PAGE)
        conversations.count(LOCAL_USER, words)

    search(words)
    times = [milliseconds_of(search, words) for _ in range(repetitions)]
    tracemalloc.start()
    search(words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    report.ratio(f"of the bound of {BOUND_MS} ms: {name}", 100 * median(times) / BOUND_MS, "%")
    report.add(f"{name}, p50", median(times), "ms")
    report.add(f"{name}, memory", peak / MIB, "MiB")
