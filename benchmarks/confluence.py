"""Imports of a Confluence site with 5,000 pages: first, unchanged, with faults, without network.

Permissions are mirrored from a site with 1,000 pages.

The site is the tests' fake on loopback, in this process; each import is a worker's, with the
built-in embedding, in a subprocess. Waits that Confluence asks for are skipped: with faults the
figures are counts, not times.
"""

import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.afresh import call_afresh
from benchmarks.confluence_import import SPACE, Found
from benchmarks.measure import Report
from tests.fakes.confluence import FakeConfluence
from tests.fakes.faults import Faults

SMALL = {"pages": 60, "fewer": 20, "faults": 20}
WORDS = ["leave", "budget", "travel", "server", "backup", "contract", "invoice", "safety"]
ROUNDS = 60
_TEAMS = 50


def measure(*, cache: str, pages: int = 5000, fewer: int = 500, faults: int = 1000) -> Report:
    report = Report(
        "Confluence",
        f"a fake site of {pages:,} pages on loopback; the importer is a process of its own",
    )
    call_afresh("benchmarks.memory:prepare_model", cache=cache)
    with site(fewer, cache) as small:
        less = small.bring_up_to_date()
    with site(pages, cache) as whole:
        _first_and_unchanged(report, whole, less)
        _unplugged(report, whole)
    with site(pages // 5, cache) as mirrored:
        _mirrored_permissions(report, mirrored)
    with site(pages, cache) as faulty:
        _a_fifth_faulty(report, faulty)
    with site(pages // 5, cache) as edited:
        _so_many_faults(report, edited, faults)
    return report


class Imported:
    """A fake site and a library that imports it."""

    def __init__(self, fake: FakeConfluence, data_dir: Path, seed: int = 7) -> None:
        self.fake = fake
        self.data_dir = data_dir
        self.random = random.Random(seed)
        self._numbers = iter(range(10**9))
        self.mirrors_permissions = False

    def bring_up_to_date(self) -> Found:
        """Import once; returns the report of the worker process, and the number of requests."""
        before = len(self.fake.requests)
        found: Found = call_afresh(
            "benchmarks.confluence_import:import_site",
            data_dir=str(self.data_dir),
            url=self.fake.url,
            mirrors_permissions=self.mirrors_permissions,
        )
        found["requests"] = len(self.fake.requests) - before
        return found

    def differences(self, found: Found) -> Counter[str]:
        """Number of pages missing from, different in, or surplus in the library, or its damage."""
        held = found["documents"]
        there = {
            key: [page.version, page.title, _text_of(page.text)]
            for key, page in self.fake.visible().items()
        }
        return Counter(
            lost=len(there.keys() - held.keys()),
            other=sum(held[key] != there[key] for key in there.keys() & held.keys()),
            left=len(held.keys() - there.keys()),
            doubled=0 if found["agrees"] else 1,
        )

    def add(self) -> None:
        """Create one more page."""
        number = next(self._numbers)
        words = self.random.choices(WORDS, k=60)
        self.fake.add(SPACE, f"Page {number}", f"<p>{' '.join(words)} {number}.</p>")

    def edit_some(self, share: float = 0.1) -> None:
        """Edit a share of the pages, trash a few, and create as many new ones."""
        ids = list(self.fake.visible())
        for id_ in self.random.sample(ids, int(len(ids) * share)):
            self.fake.edit(id_, f"<p>{' '.join(self.random.choices(WORDS, k=60))}</p>")
        for id_ in self.random.sample(ids, 3):
            self.fake.trash(id_)
            self.add()


@contextmanager
def site(pages: int, cache: str) -> Iterator[Imported]:
    """A site of that many pages, and an empty library with a built model."""
    with tempfile.TemporaryDirectory() as place, FakeConfluence(cloud=False) as fake:
        data_dir = Path(place) / "data"
        data_dir.mkdir()
        (data_dir / "cache").symlink_to(Path(cache).resolve())
        fake.add_space(SPACE, "Documentation")
        imported = Imported(fake, data_dir)
        for _ in range(pages):
            imported.add()
        yield imported
        if fake.refused:
            raise SystemExit(f"The fake refused: {fake.refused[:3]}")


def _first_and_unchanged(report: Report, whole: Imported, less: Found) -> None:
    first = whole.bring_up_to_date()
    _expect(whole, first, "completed")
    again = whole.bring_up_to_date()
    _expect(whole, again, "completed")
    report.ratio("unchanged: requests / those of the first import", _percent(again, first), "%")
    report.ratio("peak memory / that of a site a tenth as large", first["peak"] / less["peak"])
    report.add("first import", first["seconds"], "s")
    report.add("first import, requests", first["requests"], "")
    report.add("first import, peak memory", first["peak"], "MiB")
    report.add("unchanged, requests", again["requests"], "")
    report.add("unchanged, passages embedded", again["embedded"], "")
    report.add("unchanged", again["seconds"], "s")


def _percent(again: Found, first: Found) -> float:
    return float(100 * again["requests"] / first["requests"])


def _unplugged(report: Report, whole: Imported) -> None:
    """Half of the pages are edited, and the network fails while they are read."""
    whole.edit_some(0.5)
    begun = len(whole.fake.requests)
    whole.fake.unplug_after = len(whole.fake.visible()) // 4
    stopped = whole.bring_up_to_date()
    if stopped["state"] != "interrupted":
        raise SystemExit(f"{stopped['state']} in place of interrupted: {stopped['message']}")
    before = _pages_read(whole, begun)
    whole.fake.plug()
    _expect(whole, whole.bring_up_to_date(), "completed")
    twice = sum(count > 1 for count in _pages_read(whole, begun).values())
    report.add("network gone: pages read before the import was interrupted", len(before), "")
    report.add("network back: pages read twice", twice, "")


def _pages_read(imported: Imported, begun: int) -> Counter[str]:
    """Reads of each page after the first `begun` requests."""
    return Counter(
        request.path
        for request in imported.fake.requests[begun:]
        if "body" in request.params.get("expand", "")
    )


def _mirrored_permissions(report: Report, mirrored: Imported) -> None:
    """Every page gets another restriction, to one of 50 groups; no page changes."""
    mirrored.mirrors_permissions = True
    mirrored.fake.permit(SPACE, groups=("staff",))
    first = mirrored.bring_up_to_date()
    _expect(mirrored, first, "completed")
    for number, id_ in enumerate(mirrored.fake.visible()):
        mirrored.fake.limit(id_, groups=(f"team {number % _TEAMS}",))
    begun = len(mirrored.fake.requests)
    changed = mirrored.bring_up_to_date()
    _expect(mirrored, changed, "completed")
    report.add("permissions mirrored: first import, requests", first["requests"], "")
    report.add("permissions of all pages changed: requests", changed["requests"], "")
    report.add(
        "permissions of all pages changed: pages read", len(_pages_read(mirrored, begun)), ""
    )
    report.add("permissions of all pages changed: passages embedded", changed["embedded"], "")
    report.add("permissions of all pages changed", changed["seconds"], "s")


def _a_fifth_faulty(report: Report, faulty: Imported) -> None:
    """Every fifth response is faulty until the library equals the site."""
    faulty.fake.faults = Faults(seed=5, share=0.2)
    imports, found = 0, {"state": ""}
    while found["state"] != "completed" and imports < ROUNDS:
        found, imports = faulty.bring_up_to_date(), imports + 1
    _expect(faulty, found, "completed")
    report.add("20 % of answers faulty: imports until the library equals the site", imports, "")
    report.add("20 % of answers faulty: faults", faulty.fake.faults.counts.total(), "")


def _so_many_faults(report: Report, edited: Imported, faults: int) -> None:
    """Edits, deletions, and new pages with faults in between, compared after each import.

    Some requests fail at every attempt; the next import catches up.
    """
    edited.fake.faults = Faults(seed=11, share=0.3, in_a_row=10, at_most=faults)
    rounds, wrong = 0, Counter[str]()
    while edited.fake.faults.counts.total() < faults and rounds < ROUNDS:
        found, rounds = edited.bring_up_to_date(), rounds + 1
        if found["state"] == "completed":
            wrong += edited.differences(found)
        edited.edit_some()
    _expect(edited, edited.bring_up_to_date(), "completed")
    report.add("faults injected", edited.fake.faults.counts.total(), "")
    report.add("imports meanwhile, each compared with the site", rounds, "")
    report.add("pages lost, doubled, left or of another version", wrong.total(), "")


def _expect(imported: Imported, found: Found, state: str) -> None:
    differences = imported.differences(found)
    if found["state"] != state or differences.total():
        raise SystemExit(f"{found['state']}: {found['message']}; {dict(differences)}")


def _text_of(storage: str) -> str:
    return storage.removeprefix("<p>").removesuffix("</p>")
