"""Latency of searches, in turns, and recall against exact search."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import TypeVar

from benchmarks.measure import Cell, Report, Times, milliseconds_of
from benchmarks.opensearch.contenders import DEPTH, Contender, K, Search, ServerSide
from benchmarks.opensearch.passages import EVERYTHING, FILTERS, Question
from benchmarks.opensearch.progress import log
from domain import Filter

OWN, BARE, EMBEDDED, SERVER = "Footnote", "bare", "embedded", "hybrid query"
COLUMNS = [
    "",
    *(f"{name}, {share} ms" for name in (OWN, BARE, EMBEDDED) for share in ("p50", "p95")),
    f"recall@{K}",
    f"same hits as {BARE}, %",
]
WARM = 20
AnyQuestion = TypeVar("AnyQuestion")
Nearest = Mapping[str, list[list[str]]]


def _searches(contender: Contender, condition: Filter | None) -> dict[str, Search]:
    return {
        f"similarity, top {K}": contender.similar(K, condition),
        f"similarity, top {DEPTH}": contender.similar(DEPTH, condition),
        f"words, top {DEPTH}": contender.words(condition),
        f"both, top {DEPTH} each": contender.both(condition),
    }


def add_searches(
    report: Report,
    state: str,
    contenders: Mapping[str, Contender],
    questions: Sequence[Question],
    exact: Nearest,
) -> None:
    """Compare the kinds of search under each filter; `exact` has the nearest passages."""
    rows = []
    for share, condition in FILTERS.items():
        searches = {name: _searches(one, condition) for name, one in contenders.items()}
        for kind in searches[OWN]:
            title = f"{kind}, {share} match" if share else kind
            same_kind = {name: searches[name][kind] for name in contenders}
            nearest = exact[share] if kind.startswith("similarity") else None
            rows.append(_row(report, f"{state}: {title}", same_kind, questions, nearest))
            log(f"{title} done")
    report.table(f"Searches, {state}", COLUMNS, rows)


def _row(
    report: Report,
    title: str,
    searches: Mapping[str, Search],
    questions: Sequence[Question],
    nearest: list[list[str]] | None,
) -> list[Cell]:
    found = {name: _warmed(searches[name], questions, nearest) for name in searches}
    times = paired(searches, questions)
    own, bare = times[OWN], times[BARE]
    report.ratio(f"{title}: {OWN} / {BARE}, p50", own.p50 / bare.p50)
    cells: list[Cell] = [title.split(": ")[1], own.p50, own.p95, bare.p50, bare.p95]
    other = times.get(EMBEDDED)
    cells += [other.p50, other.p95] if other else [None, None]
    if nearest is None:
        return [*cells, None, None]
    share = recall(found[OWN], nearest)
    report.ratio(f"{title}: recall@{K}", share, "")
    return [*cells, share, 100 * _share_equal(found[OWN], found[BARE])]


def _warmed(
    search: Search, questions: Sequence[Question], nearest: object | None
) -> list[list[str]]:
    """The passages found for all questions if they are checked, otherwise for a few."""
    return [search(one) for one in (questions if nearest else questions[:WARM])]


def recall(found: Sequence[list[str]], nearest: Sequence[list[str]]) -> float:
    pairs = zip(found, nearest, strict=True)
    return mean(len(set(ids[:K]) & set(best)) / len(best) for ids, best in pairs)


def _share_equal(found: Sequence[object], others: Sequence[object]) -> float:
    return mean(one == other for one, other in zip(found, others, strict=True))


def paired(
    contenders: Mapping[str, Callable[[AnyQuestion], object]], questions: Sequence[AnyQuestion]
) -> dict[str, Times]:
    """Each question goes to all contenders in turn, and each is the first of them equally often.

    So other work on the machine, and what a search leaves in caches, affect all of them alike.
    """
    names = list(contenders)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number, question in enumerate(questions):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            times[name].append(milliseconds_of(contenders[name], question))
    return {name: Times(each) for name, each in times.items()}


def add_server_side(
    report: Report,
    state: str,
    own: Contender,
    server: ServerSide,
    questions: Sequence[Question],
    exact: Nearest,
) -> None:
    """Add the server's own hybrid query, and its exact search by a script for a few questions."""
    server.create_pipeline()
    searches = {OWN: own.both(None), SERVER: server.both(None)}
    for search in searches.values():
        search(questions[0])
    times = paired(searches, questions)
    report.ratio(f"{state}: {SERVER} / {OWN}, p50", times[SERVER].p50 / times[OWN].p50)
    for name, each in times.items():
        report.add(f"{state}: {name}, p50", each.p50, "ms")
        report.add(f"{state}: {name}, p95", each.p95, "ms")
    few = questions[: max(1, len(questions) // 10)]
    script = server.exact()
    found = [script(one) for one in few]
    report.ratio(
        f"{state}: recall@{K} of the script", recall(found, exact[EVERYTHING][: len(few)]), ""
    )
    report.add(f"{state}: exact search by the script, p50", paired({"": script}, few)[""].p50, "ms")
