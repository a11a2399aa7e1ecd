"""Keyword search: BM25 by tantivy over the tokens of `language.tokens`."""

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from language.tokens import keyword_tokens
from storage.disk import require_free_space, unusable, unwritable
from storage.keyword_files import (
    best_hits,
    is_tantivys,
    joined_tokens,
    open_index,
    question_of,
    utf8,
)
from storage.lock import writer_lock
from storage.segment_files import SegmentFiles

if TYPE_CHECKING:
    import tantivy

FIRST_DEPTH = 64
"""How many hits are shown to `allowed` at first; doubled until enough of them pass."""

REFRESH_S = 0.5
"""How old the last look at the sizes of the files may be when a search begins."""

_WRITER_BYTES = 64_000_000
_Generation = tuple[int, int, int]


class KeywordIndex:
    """Which passages hold which tokens, in a folder of its own.

    Scores are BM25 with tantivy's fixed k1 = 1.2 and b = 0.75: above 0, without upper bound, to
    be compared within one search only. Lengths above 40 tokens are rounded to one of 256 steps,
    and replaced or deleted passages count in the word statistics until tantivy merges them away.

    Threads may share an index. Several processes may open the same folder and see each other's
    commits at their next call. Nothing is created before the first passage is added.
    """

    def __init__(
        self, path: Path, *, timeout_s: float = 30.0, files: SegmentFiles | None = None
    ) -> None:
        """Name the folder; it is neither opened nor created yet.

        Args:
            path: A folder of its own for this index.
            timeout_s: How long a change waits for another writer before `BusyError`.
            files: Watches over the folder's files, where others ask it too.
        """
        self._watched = files or SegmentFiles(Path(path))
        self._path = Path(path)
        self._files = self._path / "index"
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._index: tantivy.Index | None = None
        self._generation: _Generation | None = None
        self._looked_at = -REFRESH_S

    def add(self, entries: Sequence[tuple[str, str]]) -> None:
        """Keep `(passage id, text)` in one commit, in place of entries with the same ids.

        A text without tokens is kept and never found.

        Raises:
            BusyError: Another process went on writing for too long.
            StorageError: The disk is too full, or the index is damaged; nothing was kept.
        """
        joined = [(id_, joined_tokens(text)) for id_, text in entries]
        if joined:
            self._change([id_ for id_, _ in joined], joined)

    def delete(self, ids: Collection[str]) -> None:
        """Delete these passages in one commit; unknown ids don't matter.

        Raises:
            BusyError: Another process went on writing for too long.
            StorageError: The disk is too full, or the index is damaged; nothing was deleted.
        """
        if ids and self._exists():
            self._change(ids, [])

    def search(
        self, query: str, k: int, allowed: Callable[[str], bool] | None = None
    ) -> list[tuple[str, float]]:
        """The `k` passages that hold any of the query's tokens, as `(id, score)`, best first.

        A token that comes twice in the query counts twice. Of a query with more than
        1,024 distinct tokens, only the rarest of them are looked up.

        Args:
            query: Any text; without a known token nothing is found.
            k: At most this many are returned; at least 1.
            allowed: Decides by id which passages may be returned; the best `k` of these are.

        Raises:
            ValueError: `k` is not positive.
            StorageError: The index is damaged.
        """
        return self.search_tokens(keyword_tokens(query), k, allowed)

    def search_tokens(
        self, tokens: Sequence[str], k: int, allowed: Callable[[str], bool] | None = None
    ) -> list[tuple[str, float]]:
        """`search` for tokens of the index: a stem's own stem may be another."""
        if k <= 0:
            raise ValueError(f"k must be at least 1, got {k}")
        searcher = self._searcher()
        if searcher is None:
            return []
        with self._reading():
            question = question_of(searcher, utf8(tokens))
        found: list[tuple[str, float]] = []
        seen, depth = 0, k if allowed is None else max(k, FIRST_DEPTH)
        while question and seen < depth:
            with self._reading():
                hits = best_hits(searcher, question, seen, depth)
            found += [hit for hit in hits if allowed is None or allowed(hit[0])]
            seen += len(hits)
            if len(found) < k and seen == depth:
                depth *= 2
            else:
                break
        return found[:k]

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """How telling each token is: log(1 + (N - n + 0.5) / (n + 0.5)), n passages of N hold it.

        Always above 0, and highest for a token that no passage holds.
        """
        held = self.counts(tokens)
        # Deleted passages count in n, but not in N, until they are merged away.
        total = max([len(self), *held.values()])
        return {token: math.log(1 + (total - n + 0.5) / (n + 0.5)) for token, n in held.items()}

    def counts(self, tokens: Collection[str]) -> dict[str, int]:
        """How many passages hold each token, with some that were deleted lately."""
        searcher = self._searcher()
        if searcher is None:
            return dict.fromkeys(tokens, 0)
        with self._reading():
            return {token: searcher.doc_freq("tokens", token) for token in utf8(tokens)}

    def tokens_with_prefix(self, prefix: str) -> dict[str, int]:
        """The tokens that begin with the prefix, with the `counts` of each, the commonest first."""
        searcher = self._searcher()
        if searcher is None:
            return {}
        with self._reading():
            return dict(searcher.terms_with_prefix("tokens", prefix))

    def ids(self) -> list[str]:
        """The id of every passage, in the order of their letters."""
        searcher = self._searcher()
        if searcher is None:
            return []
        with self._reading():
            import tantivy

            everything = tantivy.Query.all_query()  # without it, deleted passages are listed
            return [id_ for id_, _ in searcher.terms_with_prefix("id", "", everything)]

    def __len__(self) -> int:
        searcher = self._searcher()
        return searcher.num_docs if searcher else 0

    def _exists(self) -> bool:
        if not self._watched.exist():
            self._watched.require_sound()  # it may have been deleted
            return False
        return True

    def _searcher(self) -> "tantivy.Searcher | None":
        """What other processes have committed until now; None before anything was added."""
        with self._lock:
            generation = self._committed()
            self._look(generation)
            if generation is None:
                return None
            with self._reading():
                if self._index is None:
                    self._index = open_index(self._files)
                elif generation != self._generation:
                    self._index.reload()
                self._generation = generation
                return self._index.searcher()

    def _look(self, generation: _Generation | None) -> None:
        """Make sure that the files are sound: a mapped one that was cut off kills its reader."""
        now = time.monotonic()
        if generation != self._generation or now - self._looked_at >= REFRESH_S:
            self._watched.require_sound()
            self._looked_at = now

    def _committed(self) -> _Generation | None:
        """Changes with every commit, which replaces this file."""
        try:
            found = (self._files / "meta.json").stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _change(self, gone: Collection[str], new: Sequence[tuple[str, str]]) -> None:
        """Delete and add in one commit, then wait for merges so that segments stay few."""
        import tantivy

        size = sum(len(text.encode()) for _, text in new)
        with writer_lock(self._path, self._timeout_s), self._writing():
            self._watched.require_sound()
            require_free_space(self._path, size)
            writer = self._open_to_write().writer(_WRITER_BYTES, num_threads=1)
            # A writer killed just before its commit leaves a list of deletions, whose name the
            # next one would take again and be refused.
            writer.garbage_collect_files()
            for id_ in set(gone):
                writer.delete_documents_by_term("id", id_)
            for id_, tokens in dict(new).items():
                writer.add_document(tantivy.Document(id=id_, tokens=tokens))
            writer.commit()
            writer.wait_merging_threads()
            self._watched.record()

    def _open_to_write(self) -> "tantivy.Index":
        """A handle apart from the one that searches use; makes the index if there is none."""
        if not self._exists():
            self._files.mkdir(parents=True, exist_ok=True)
        return open_index(self._files)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """The boundary to tantivy, which raises ValueError for whatever it meets on disk."""
        try:
            yield
        except BaseException as error:
            if not is_tantivys(error):
                raise
            raise unusable("keyword index", self._path, error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not is_tantivys(error):
                raise
            raise unwritable("keyword index", self._path, error) from error
