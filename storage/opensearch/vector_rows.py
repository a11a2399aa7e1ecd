"""The passages of an OpenSearch index as rows: what `PassageRows` is for a folder."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from domain import Filter, Metadata
from domain.messages import _
from storage.filters import checks_of
from storage.keywords.keyword_index import token_text
from storage.ledger.database import in_groups
from storage.opensearch.mapping import Body, words_of
from storage.opensearch.passage_index import PassageIndex
from storage.opensearch.queries import MAX_HITS, ids_body, vector_body
from storage.opensearch.terms import metadata_terms
from storage.vectors.distance_metrics import DistanceMetric
from storage.vectors.new_rows import NewRows
from storage.vectors.passage_rows import Near, Row, check_dimension
from storage.vectors.vector_index import Matrix, query_vector, unit_length

Hit = Mapping[str, Any]


@dataclass(frozen=True)
class VectorRows:
    """Reads, writes, and searches the passages of an index.

    Searches are approximate in large indexes, and exact if a filter leaves few passages.
    """

    index: PassageIndex

    @property
    def metric(self) -> DistanceMetric:
        """How the server compares vectors."""
        return self.index.metric

    def ids(self) -> list[str]:
        """The ids of all passages."""
        return self.index.ids()

    def __len__(self) -> int:
        return self.index.count()

    def get(self, ids: Sequence[str]) -> list[Row]:
        """The rows in the order of these ids; unknown ids are omitted."""
        sources = self.index.get(ids, self._row_fields())
        return [self._row(id_, sources[id_]) for id_ in ids if id_ in sources]

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """The stored vectors by id; unknown ids are omitted."""
        sources = self.index.get(list(dict.fromkeys(ids)), [self.index.fields.vector])
        return {id_: self._vector(source) for id_, source in sources.items()}

    def upsert(self, new: NewRows) -> None:
        """Add rows, replacing those with the same ids; their words are those of their texts.

        Raises like `write`.
        """
        with self.index.refresh_afterwards():
            self.write(new, [token_text(text) for text in new.texts])

    def write(self, new: NewRows, tokens: Sequence[str]) -> None:
        """Add rows with these tokens, separated by spaces; searches see them after a refresh.

        Raises:
            DimensionError: The vectors' length differs from that of the stored vectors.
            SearchServerError: Some could not be written; the others may have been.
        """
        dimension = new.vectors.shape[1]
        self.index.create(dimension)
        self._check_dimension(dimension, _("Vectors"))
        self.index.put(self._bodies(new, tokens))

    def _check_dimension(self, length: int, subject: str) -> None:
        if length != self.index.dimension():  # another process may have replaced the index
            check_dimension(length, self.index.dimension(reread=True) or length, subject)

    def _bodies(self, new: NewRows, tokens: Sequence[str]) -> list[tuple[str, Body]]:
        return [
            (id_, self._body(text, vector, json.loads(metadata), words))
            for id_, text, vector, metadata, words in zip(
                new.ids, new.texts, new.vectors, new.metadata, tokens, strict=True
            )
        ]

    def _body(self, text: str, vector: Matrix, metadata: Metadata, tokens: str) -> Body:
        fields = self.index.fields
        body: Body = {
            fields.text: text,
            fields.tokens: tokens,
            words_of(fields): sorted(set(tokens.split())),
            fields.metadata: metadata,
            fields.terms: metadata_terms(metadata),
        }
        # A vector without direction has no cosine, and the server rejects it.
        if vector.any() or self.metric is not DistanceMetric.COSINE:
            body[fields.vector] = json_floats(vector)
        return body

    def replace_metadata(self, metadata: Mapping[str, Metadata]) -> None:
        """Replace the metadata of passages by id; unknown ids are ignored. Raises like `write`."""
        fields = self.index.fields
        stored = self.index.get(list(metadata), ["*"])
        for id_, body in stored.items():
            body[fields.metadata] = metadata[id_]
            body[fields.terms] = metadata_terms(metadata[id_])
        self.index.put(stored.items())

    def delete(self, ids: Collection[str] | None) -> None:
        """Delete these ids, or all if None; unknown ids are ignored.

        Raises:
            SearchServerError: The index belongs to another program, or some could not be deleted;
                the others may have been.
        """
        if not self.index.require_own():
            return
        with self.index.refresh_afterwards():
            if ids is None:
                self.index.refresh()  # so that the ids of all writes are listed
                ids = self.index.ids()
            for group in in_groups(list(ids), MAX_HITS):
                self.index.remove(group)

    def matching(self, ids: Collection[str], conditions: Filter) -> set[str]:
        """Those of the ids whose passages exist and match the filter."""
        checks_of(conditions)
        groups = in_groups(list(ids), MAX_HITS)
        bodies = [ids_body(self.index.fields, group, conditions) for group in groups]
        return {hit["_id"] for body in bodies for hit in self.index.search(body)}

    def nearest(self, query: npt.NDArray[Any], k: int, conditions: Filter | None) -> list[Near]:
        """The `k` matching passages nearest to the query, best first, with their vectors."""
        return [self._near(hit) for hit in self._hits(query, k, conditions, [])]

    def nearest_ids(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[str, float]]:
        """`nearest` without vectors: ids and scores."""
        hits = self._hits(query, k, conditions, None)
        return [(hit["_id"], vector_score(hit, self.metric)) for hit in hits]

    def nearest_rows(
        self, query: npt.NDArray[Any], k: int, conditions: Filter | None
    ) -> list[tuple[Row, Near]]:
        """`nearest` with texts and metadata."""
        hits = self._hits(query, k, conditions, self._row_fields())
        return [(self._row(hit["_id"], hit["_source"]), self._near(hit)) for hit in hits]

    def _hits(
        self,
        query: npt.NDArray[Any],
        k: int,
        conditions: Filter | None,
        source: Sequence[str] | None,
    ) -> Sequence[Hit]:
        """The hits with these fields and the vector, or without any if `source` is None."""
        body = self.body(query, k, conditions, source)
        return self.index.search(body) if body else []

    def body(
        self,
        query: npt.NDArray[Any],
        k: int,
        conditions: Filter | None,
        source: Sequence[str] | None = None,
    ) -> Body | None:
        """The search for these hits; None if nothing can be near the query.

        Raises:
            ValueError: The filter is invalid, even before the first write.
            DimensionError: The query's length differs from that of the stored vectors.
        """
        checks_of(conditions)
        self._check_dimension(len(query), _("A vector"))
        compared = query_vector(self.metric, query)
        if compared is None:
            return None
        fields = self.index.fields
        names = () if source is None else (*source, fields.vector)
        return vector_body(fields, json_floats(compared), k, conditions, names)

    def _near(self, hit: Hit) -> Near:
        unit, _ = unit_length(self._vector(hit["_source"])[np.newaxis])
        return Near(hit["_id"], vector_score(hit, self.metric), unit[0])

    def _vector(self, source: Body) -> Matrix:
        stored = source.get(self.index.fields.vector)
        if stored is None:
            return np.zeros(self.index.dimension() or 0, np.float32)
        return np.array(stored, np.float32)

    def _row_fields(self) -> list[str]:
        return [self.index.fields.text, self.index.fields.metadata]

    def _row(self, id_: str, source: Body) -> Row:
        return Row(id_, source[self.index.fields.text], source[self.index.fields.metadata])


def vector_score(hit: Hit, metric: DistanceMetric) -> float:
    """The score of a hit by the metric; the server's is larger for nearer vectors, and positive.

    The server's is (1 + cosine) / 2, 1 / (1 + distance²), or 1 + product (1 / (1 - product) if the
    product is negative). As it has 7 digits, distances are exact to .001 only.
    """
    score = float(hit["_score"])
    if metric is DistanceMetric.COSINE:
        return 2 * score - 1
    if metric is DistanceMetric.EUCLIDEAN:
        return math.sqrt(max(0.0, 1 / score - 1))
    return score - 1 if score >= 1 else 1 - 1 / score


def json_floats(vector: Matrix) -> list[float]:
    """The numbers of a vector with the fewest digits that identify them as float32.

    As JSON, they are 40% shorter than those of `tolist`, which are exact as float64.
    """
    floats: list[float] = orjson.loads(orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY))
    return floats
