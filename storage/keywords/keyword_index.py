"""Keyword search: BM25 by tantivy over the tokens of `domain.language.tokens`."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from domain.language.tokens import keyword_tokens
from domain.messages import _
from storage.allowed_ids import AllowedIds
from storage.index_files import stamp_of
from storage.keywords.segment_files import SegmentFiles
from storage.safe_writes import require_free_space, unusable, unwritable, writer_lock

if TYPE_CHECKING:
    import tantivy


MAX_QUERY_TOKENS = 1024
"""Maximum number of distinct tokens per query; the rarest are kept.

Search time grows with them, and the common tokens of a very long question hardly matter.
"""


def open_index(files: Path) -> "tantivy.Index":
    """Open the index in a folder, or create an empty one."""
    import tantivy

    index = tantivy.Index(_schema(), path=str(files))
    index.config_reader("manual")  # otherwise, a thread would watch the folder
    return index


def _schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("tokens", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def query_of(searcher: "tantivy.Searcher", tokens: Sequence[str]) -> "tantivy.Query | None":
    """A query for any of the tokens; None if no passage contains any."""
    from tantivy import Occur, Query

    counts = Counter(tokens)
    document_counts = {token: searcher.doc_freq("tokens", token) for token in counts}
    known_tokens = sorted(
        (token for token in counts if document_counts[token]), key=document_counts.__getitem__
    )
    schema = _schema()
    terms = [
        (Query.term_query(schema, "tokens", token, "freq"), counts[token])
        for token in known_tokens[:MAX_QUERY_TOKENS]
    ]
    parts = [Query.boost_query(term, count) if count > 1 else term for term, count in terms]
    return Query.boolean_query([(Occur.Should, part) for part in parts]) if parts else None


EXAMINED_PER_ID = 2.5
"""The number of hits that can be examined in the time that a query takes per id (3 and 7 µs)."""


def are_few(allowed: Callable[[str], bool] | None, k: int, passages: int) -> TypeGuard[AllowedIds]:
    """Whether a query for the ids is faster than examining hits until `k` of them are allowed."""
    if not isinstance(allowed, AllowedIds):
        return False
    return EXAMINED_PER_ID * allowed.count() ** 2 < k * passages


def restricted_to(ids: list[str], question: "tantivy.Query") -> "tantivy.Query":
    """A query that finds no other passages than these, with the same scores."""
    from tantivy import Occur, Query

    among_ids = Query.const_score_query(Query.term_set_query(_schema(), "id", ids), 0.0)
    return Query.boolean_query([(Occur.Must, question), (Occur.Must, among_ids)])


def best_hits(
    searcher: "tantivy.Searcher", question: "tantivy.Query", start: int, stop: int
) -> list[tuple[str, float]]:
    """The hits from rank `start` (from 0) up to `stop`, exclusive; the order of ties is stable."""
    addresses = searcher.search(question, stop, count=False).hits[start:]
    return [(searcher.doc(address)["id"][0], score) for score, address in addresses]


def token_text(text: str) -> str:
    """The text's tokens as they are indexed."""
    return " ".join(utf8(keyword_tokens(text)))


def utf8(tokens: Collection[str]) -> list[str]:
    """Replace unpaired surrogates in tokens, because tantivy rejects them."""
    return [token.encode(errors="replace").decode() for token in tokens]


def is_tantivy_error(error: BaseException) -> bool:
    """Whether tantivy raised the error, including Rust panics from damaged files.

    A panic is not an `Exception`, and its class can't be imported.
    """
    return isinstance(error, ValueError | OSError) or type(error).__name__ == "PanicException"


def token_weights(counts: Mapping[str, int], passages: int) -> dict[str, float]:
    """The weight of each token: log(1 + (N - n + 0.5) / (n + 0.5)) if n of N passages have it.

    Always above 0; highest for a token in no passage.
    """
    # Deleted passages count in n, but not in N, until their segments are merged.
    total = max([passages, *counts.values()])
    return {token: math.log(1 + (total - n + 0.5) / (n + 0.5)) for token, n in counts.items()}


FIRST_DEPTH = 64
"""The initial number of hits that `allowed` checks; doubled until enough of them pass."""

REFRESH_S = 0.5
"""The maximum age, at the start of a search, of the last check of file sizes."""

_WRITER_BYTES = 64_000_000
_Generation = tuple[int, int, int]


class KeywordIndex:
    """An inverted index of passages.

    Scores are BM25 with tantivy's fixed k1 = 1.2 and b = 0.75: above 0, unbounded, and comparable
    only within one search. Lengths above 40 tokens are rounded to one of 256 steps. Replaced and
    deleted passages count in the word statistics until tantivy merges their segments.

    Threads may share an index. Several processes may open the same folder and see each other's
    commits at the next call. Nothing is created before the first passage is added.
    """

    def __init__(
        self, path: Path, *, timeout_s: float = 30.0, files: SegmentFiles | None = None
    ) -> None:
        """Set the folder without opening or creating it.

        Args:
            path: A folder for this index only.
            timeout_s: How long a write waits for another writer before `BusyError`.
            files: The checker of the folder's files, if shared with others.
        """
        self._checked_files = files or SegmentFiles(Path(path))
        self._path = Path(path)
        self._files = self._path / "index"
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._index: tantivy.Index | None = None
        self._generation: _Generation | None = None
        self._checked_at = -REFRESH_S

    def add(self, entries: Sequence[tuple[str, str]]) -> None:
        """Add `(passage id, text)` in one commit, replacing entries with the same ids.

        A text without tokens is stored but never found.

        Raises:
            BusyError: Another process kept writing for too long.
            StorageError: The disk is full, or the index is damaged; nothing was added.
        """
        joined = [(id_, token_text(text)) for id_, text in entries]
        if joined:
            self._change([id_ for id_, _ in joined], joined)

    def delete(self, ids: Collection[str]) -> None:
        """Delete passages in one commit; unknown ids are ignored.

        Raises:
            BusyError: Another process kept writing for too long.
            StorageError: The disk is full, or the index is damaged; nothing was deleted.
        """
        if ids and self._exists():
            self._change(ids, [])

    def search(
        self, query: str, k: int, allowed: Callable[[str], bool] | None = None
    ) -> list[tuple[str, float]]:
        """The `k` best passages with any of the query's tokens, as `(id, score)`, best first.

        A token that occurs twice in the query counts twice. Of more than 1,024 distinct tokens,
        only the rarest are used.

        Args:
            query: Any text; without known tokens, nothing is found.
            k: The maximum number of results; at least 1.
            allowed: Returns whether the passage with this id may be returned.

        Raises:
            ValueError: `k` is not positive.
            StorageError: The index is damaged.
        """
        return self.search_tokens(keyword_tokens(query), k, allowed)

    def search_tokens(
        self, tokens: Sequence[str], k: int, allowed: Callable[[str], bool] | None = None
    ) -> list[tuple[str, float]]:
        """Search by tokens as they are indexed, which must not be stemmed again; see `search`."""
        if k <= 0:
            raise ValueError(f"k must be at least 1, got {k}")
        searcher = self._searcher()
        if searcher is None:
            return []
        with self._errors():
            question = query_of(searcher, utf8(tokens))
            if question and are_few(allowed, k, searcher.num_docs):
                question, allowed = restricted_to(allowed.ids(), question), None
        hits_so_far: list[tuple[str, float]] = []
        examined, depth = 0, k if allowed is None else max(k, FIRST_DEPTH)
        while question and examined < depth:
            with self._errors():
                hits = best_hits(searcher, question, examined, depth)
            hits_so_far += [hit for hit in hits if allowed is None or allowed(hit[0])]
            examined += len(hits)
            if len(hits_so_far) < k and examined == depth:
                depth *= 2
            else:
                break
        return hits_so_far[:k]

    def idf(self, tokens: Collection[str]) -> dict[str, float]:
        """See `token_weights`."""
        return token_weights(self.counts(tokens), len(self))

    def counts(self, tokens: Collection[str]) -> dict[str, int]:
        """The number of passages with each token, including some recently deleted ones."""
        searcher = self._searcher()
        if searcher is None:
            return dict.fromkeys(tokens, 0)
        with self._errors():
            return {token: searcher.doc_freq("tokens", token) for token in utf8(tokens)}

    def tokens_with_prefix(self, prefix: str) -> dict[str, int]:
        """The tokens with this prefix, with their `counts`, most frequent first."""
        searcher = self._searcher()
        if searcher is None:
            return {}
        with self._errors():
            return dict(searcher.terms_with_prefix("tokens", prefix))

    def ids(self) -> list[str]:
        """The sorted ids of all passages."""
        searcher = self._searcher()
        if searcher is None:
            return []
        with self._errors():
            import tantivy

            everything = tantivy.Query.all_query()  # otherwise, deleted passages would be listed
            return [id_ for id_, _ in searcher.terms_with_prefix("id", "", everything)]

    def __len__(self) -> int:
        searcher = self._searcher()
        return searcher.num_docs if searcher else 0

    def _exists(self) -> bool:
        if not self._checked_files.exist():
            self._checked_files.require_sound()  # the index may have been deleted
            return False
        return True

    def _searcher(self) -> "tantivy.Searcher | None":
        """A searcher that sees all commits; None before the first one."""
        with self._lock:
            # A commit replaces this file.
            generation = stamp_of(self._files / "meta.json")
            self._require_sound(generation)
            if generation is None:
                return None
            with self._errors():
                if self._index is None:
                    self._index = open_index(self._files)
                elif generation != self._generation:
                    self._index.reload()
                self._generation = generation
                return self._index.searcher()

    def _require_sound(self, generation: _Generation | None) -> None:
        """Check the files, because reading a truncated mapped file would crash the process."""
        now = time.monotonic()
        if generation != self._generation or now - self._checked_at >= REFRESH_S:
            self._checked_files.require_sound()
            self._checked_at = now

    def _change(self, removed_ids: Collection[str], entries: Sequence[tuple[str, str]]) -> None:
        """Delete and add in one commit, then wait for the merges that keep segments few."""
        import tantivy

        size = sum(len(text.encode()) for _, text in entries)
        with writer_lock(self._path, self._timeout_s), self._errors(writes=True):
            self._checked_files.require_sound()
            require_free_space(self._path, size)
            writer = self._open_to_write().writer(_WRITER_BYTES, num_threads=1)
            # A writer killed just before its commit leaves a file of deletions with the name that
            # the next commit needs.
            writer.garbage_collect_files()
            for id_ in set(removed_ids):
                writer.delete_documents_by_term("id", id_)
            for id_, tokens in dict(entries).items():
                writer.add_document(tantivy.Document(id=id_, tokens=tokens))
            writer.commit()
            writer.wait_merging_threads()
            self._checked_files.record()

    def _open_to_write(self) -> "tantivy.Index":
        """Open a handle separate from that of searches; creates the index if there is none."""
        if not self._exists():
            self._files.mkdir(parents=True, exist_ok=True)
        return open_index(self._files)

    @contextmanager
    def _errors(self, *, writes: bool = False) -> Iterator[None]:
        """Converts tantivy's errors, which are ValueErrors for all disk problems."""
        try:
            yield
        except BaseException as error:
            if not is_tantivy_error(error):
                raise
            if writes:
                raise unwritable("keyword index", self._path, error) from error
            raise unusable(_("keyword index"), self._path, error) from error
