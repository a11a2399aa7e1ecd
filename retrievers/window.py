"""Hits widened by the passages around them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.callbacks import CallbackManagerForRetrieverRun as Run
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from domain import Metadata, Passage, shared_headings
from retrievers.counted import CountedRetriever

Neighbours = Callable[[Sequence[str], int], Mapping[str, Passage]]
"""By passage id, the stretch of its document from `n` passages before it to `n` after it."""


class WindowRetriever(CountedRetriever):
    """Widens each hit of `base` by up to `passages` neighbours on either side.

    A widened hit is an exact stretch of its document: `page_content`, `start` and `end` agree
    with the stored text, `page` and `ordinal` are those of its first passage, `heading_path` what
    the headings of all of it share. Id and score are the hit's; `window` in the metadata lists
    the `id`, `start` and `end` of the hits it holds, the best first.

    Windows that overlap become one, in the place of the better hit, so that fewer than `k` may
    come. None grows beyond `max_chars`: neighbours are left out, or the windows stay two. A hit
    that `neighbours` doesn't know (any more) stays as it is.
    """

    base: BaseRetriever
    """Its invoke takes `k`."""
    neighbours: Neighbours
    passages: int = Field(default=1, ge=0)
    max_chars: int = Field(default=6000, ge=1)

    def _find(self, query: str, k: int, run_manager: Run) -> list[Document]:
        found = self.base.invoke(query, {"callbacks": run_manager.get_child()}, k=k)
        wide = self._widened([document.id or "" for document in found])
        windows = [_Window.of(rank, hit, wide) for rank, hit in enumerate(found)]
        return [window.document() for window in _merged(windows, self.max_chars)]

    def _widened(self, ids: Sequence[str]) -> dict[str, Passage]:
        """The widest stretch around each hit that is not too long."""
        fitting: dict[str, Passage] = {}
        for n in range(self.passages, 0, -1):
            left = [id_ for id_ in ids if id_ not in fitting]
            wide = self.neighbours(left, n) if left else {}
            fitting |= {id_: p for id_, p in wide.items() if len(p.text) <= self.max_chars}
        return fitting


@dataclass(frozen=True)
class _Window:
    """A hit, the stretch it became (None: nothing is known), and by rank the hits in there."""

    rank: int
    hit: Document
    stretch: Passage | None
    hits: Mapping[int, Metadata]

    @classmethod
    def of(cls, rank: int, hit: Document, wide: Mapping[str, Passage]) -> "_Window":
        place = {"id": hit.id, **{key: hit.metadata.get(key) for key in ("start", "end")}}
        return cls(rank, hit, wide.get(hit.id or ""), {rank: place})

    def joined(self, other: "_Window", max_chars: int) -> "_Window | None":
        """Both as one, named after the better; None where they don't overlap or get too long."""
        if self.stretch is None or other.stretch is None:
            return None
        stretch = _union(self.stretch, other.stretch)
        if stretch is None or len(stretch.text) > max_chars:
            return None
        better = min(self, other, key=lambda window: window.rank)
        return replace(better, stretch=stretch, hits={**self.hits, **other.hits})

    def document(self) -> Document:
        if self.stretch is None:
            return self.hit
        place = {
            "start": self.stretch.start,
            "end": self.stretch.end,
            "page": self.stretch.page,
            "ordinal": self.stretch.ordinal,
            "heading_path": list(self.stretch.heading_path),
            "window": [place for _, place in sorted(self.hits.items())],
        }
        metadata = {**self.hit.metadata, **place}
        return self.hit.model_copy(update={"page_content": self.stretch.text, "metadata": metadata})


def _merged(windows: Sequence[_Window], max_chars: int) -> list[_Window]:
    """The windows, best first, no two of which could still be joined."""
    kept: list[_Window] = []
    for window in windows:
        grown = window
        while pair := _first_join(grown, kept, max_chars):
            other, grown = pair
            kept.remove(other)
        kept.append(grown)
    return sorted(kept, key=lambda window: window.rank)


def _first_join(
    window: _Window, kept: Sequence[_Window], max_chars: int
) -> tuple[_Window, _Window] | None:
    for other in kept:
        if joined := other.joined(window, max_chars):
            return other, joined
    return None


def _union(one: Passage, other: Passage) -> Passage | None:
    """The stretch that two overlapping ones cover; None where they don't overlap."""
    first, second = sorted((one, other), key=lambda passage: (passage.start, passage.end))
    if first.document_id != second.document_id or first.end <= second.start:
        return None
    return replace(
        first,
        end=max(first.end, second.end),
        text=first.text + second.text[max(0, first.end - second.start) :],
        heading_path=shared_headings([first.heading_path, second.heading_path]),
    )
