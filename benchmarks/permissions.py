"""Search as a person whose groups may read few of many restricted documents, and without a filter.

python -m benchmarks.permissions                       # 100,000 passages, 1,000 groups
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Report, Times, machine
from benchmarks.memory import VOCABULARY, MadeUpDocuments, import_made_up
from benchmarks.show import as_text
from bootstrap import Services
from domain import LOCAL_USER, DocumentFilter, Principal
from domain.people import group_reader
from settings import Settings

BOUND = 1.5
GROUPS_OF_A_PERSON = 10
PEOPLE = 20
WORDS_OF_A_QUESTION = 3


def main() -> int:
    """Print the report; 1 if the bound is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.permissions", description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-permissions-") as folder:
        import_made_up(folder, MadeUpDocuments(options.passages))
        services = Services(Settings(data_dir=Path(folder), _env_file=None))
        documents = restrict(services, options.groups)
        report = Report(
            "Permissions",
            f"{options.passages:,} passages of {documents:,} documents, each restricted to one of"
            f" {options.groups:,} groups; {PEOPLE} people with {GROUPS_OF_A_PERSON} groups each;"
            " the default search for 20 passages, with the embedding of the question",
        )
        ratio = measure(services, report, options.groups, options.questions)
    print(as_text(machine(), [report]))
    return 0 if ratio < BOUND else 1


def restrict(services: Services, groups: int) -> int:
    """Restrict each document to a group; returns the number of documents."""
    ids = services.documents.ids(LOCAL_USER, DocumentFilter())
    services.access.restrictions.restrict_documents(
        {id_: [frozenset([group_reader(f"g{n % groups}")])] for n, id_ in enumerate(ids)}
    )
    return len(ids)


def people(groups: int) -> Iterator[Principal]:
    """The people in turn, each with other groups."""
    while True:
        for person in range(PEOPLE):
            first = person * groups // PEOPLE
            own = {f"g{first + n}" for n in range(GROUPS_OF_A_PERSON)}
            yield Principal(f"person {person}", frozenset(own))


def measure(services: Services, report: Report, groups: int, questions: int) -> float:
    """Add the times with and without permissions, in turns; returns the ratio of their p95."""
    times: dict[str, list[float]] = {"without a filter": [], "with permissions": []}
    persons = people(groups)
    for number in range(questions + PEOPLE):
        words = (f"word{7 * number + n + 1}" for n in range(WORDS_OF_A_QUESTION))
        question = " ".join(words) if number % VOCABULARY else "word1"
        pairs = list(zip(times, (LOCAL_USER, next(persons)), strict=True))
        # In turns, because the second search of a question finds its words in the caches.
        for name, principal in pairs if number % 2 else reversed(pairs):
            began = time.perf_counter()
            found = services.search.search(principal, question, k=20, rerank=False)
            if number >= PEOPLE:  # a warm-up, in which each person searches once
                times[name].append(1000 * (time.perf_counter() - began))
            require_readable(services, principal, [one.metadata["document_id"] for one in found])
    both = {name: Times(each) for name, each in times.items()}
    rows = [[name, each.p50, each.p95] for name, each in both.items()]
    report.table("Searches", ["", "p50 ms", "p95 ms"], rows)
    plain, filtered = both.values()
    ratio = filtered.p95 / plain.p95
    report.ratio("p95 with permissions / without a filter", ratio)
    return ratio


def require_readable(services: Services, principal: Principal, ids: list[str]) -> None:
    """End the measurement if a search found what the principal may not read, or nothing."""
    if not ids or services.access.unreadable(principal, ids):
        raise SystemExit(f"a search of {principal.user_id} found the wrong documents")


if __name__ == "__main__":
    sys.exit(main())
