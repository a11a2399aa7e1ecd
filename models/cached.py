"""Caches embeddings by content to make a second run over the same texts fast."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from domain.errors import StorageError
from domain.messages import _

BATCH = 256
"""The number of texts per commit; an interruption loses at most that many."""
KEYS_PER_QUERY = 500
BUSY_TIMEOUT_S = 60
_CREATE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
_Vector = NDArray[np.float32]


class CachedEmbeddings(Embeddings):
    """Embeds a text only if no earlier call, in any process, has embedded it.

    Vectors are stored as float32 in one SQLite file, keyed by a hash of the fingerprint and the
    text. The file can be deleted at any time. Questions are never cached, because searches would
    then look faster than they are.

    Raises (all methods):
        StorageError: The file can't be read or written.
    """

    def __init__(self, embeddings: Embeddings, path: Path, fingerprint: str) -> None:
        self._embeddings = embeddings
        self._path = path
        self._fingerprint = fingerprint

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of the texts, in order; repeated texts are embedded once."""
        keys = [self._key(text) for text in texts]
        found = self._get(keys)
        texts_by_key = dict(zip(keys, texts, strict=True))
        missing = [(key, text) for key, text in texts_by_key.items() if key not in found]
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            rows = self._embeddings.embed_documents([text for _, text in part])
            vectors = [np.array(row, np.float32) for row in rows]
            made = dict(zip([key for key, _ in part], vectors, strict=True))
            self._put(made)
            found.update(made)
        return [found[key].tolist() for key in keys]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self._embeddings.embed_query(text)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._fingerprint}\0{text}".encode()).digest()

    def _get(self, keys: Sequence[bytes]) -> dict[bytes, _Vector]:
        """The cached vectors among these keys."""
        found: dict[bytes, _Vector] = {}
        with self._connection() as connection:
            for start in range(0, len(keys), KEYS_PER_QUERY):
                part = keys[start : start + KEYS_PER_QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
                rows = connection.execute(query, part)
                found.update((key, np.frombuffer(vector, dtype="<f4")) for key, vector in rows)
        return found

    def _put(self, vectors: Mapping[bytes, _Vector]) -> None:
        """Store the vectors in one commit; existing vectors are kept."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        with self._connection() as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for each call, so any thread may call."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_CREATE)
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                _(
                    "The embedding cache {path} can't be used: {error}. Make its folder"
                    " writable, or delete the file: Footnote recreates it."
                ).format(path=self._path, error=error)
            ) from error
