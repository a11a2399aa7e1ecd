"""The fields of a passage in an index, and the index's settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storage.vectors.distance_metrics import DistanceMetric

Body = dict[str, Any]
"""The body of a request, or the fields of a passage."""

SCHEMA = "footnote"
"""The key of the mapping's `_meta` that marks an index as one of these."""

_ANALYZER = "given_tokens"
_MAX_TOKEN_CHARS = 8_000  # Lucene rejects terms of more than 32,766 bytes


@dataclass(frozen=True)
class Fields:
    """The names of the fields that searches use.

    The defaults are those of indexes that Footnote creates. Without `terms`, filters use the fields
    `metadata.<name><exact_suffix>`, as in indexes of LangChain's `OpenSearchVectorSearch`
    (see `LANGCHAIN_FIELDS`). Without `tokens`, lexical searches use the analyzer of `text`.
    """

    text: str = "text"
    vector: str = "vector"
    metadata: str = "metadata"
    tokens: str = "tokens"
    terms: str = "terms"
    exact_suffix: str = ""


LANGCHAIN_FIELDS = Fields(vector="vector_field", tokens="", terms="", exact_suffix=".keyword")
"""The fields of an index that LangChain's community class `OpenSearchVectorSearch` created."""


def require_own_fields(fields: Fields) -> Fields:
    """Return the fields if they may be those of an index of Footnote.

    Raises:
        ValueError: They have no `terms`, so another program wrote the index.
    """
    if not fields.terms:
        raise ValueError(
            "Fields without `terms` work only with OpenSearchLexicalSearchRetriever, because"
            " the metric of other programs' vectors is unknown"
        )
    return fields


@dataclass(frozen=True)
class IndexOptions:
    """The number of primary shards, and of copies of each.

    With `analyzer`, the texts are also indexed with that analyzer of the server, such as nori or
    kuromoji, for other programs; Footnote's own searches do not use it.
    """

    shards: int = 1
    replicas: int = 1
    analyzer: str = ""


SPACES = {
    DistanceMetric.COSINE: "cosinesimil",
    DistanceMetric.EUCLIDEAN: "l2",
    DistanceMetric.INNER_PRODUCT: "innerproduct",
}
"""The server's names of the metrics."""


def index_body(
    dimension: int,
    fields: Fields,
    options: IndexOptions,
    metric: DistanceMetric = DistanceMetric.COSINE,
) -> Body:
    """The body of the request that creates an index for vectors of this length.

    The analyzer leaves tokens unchanged. Automatic refresh is off, because each visible change is
    followed by an explicit refresh. The versions of deleted passages are kept for an hour, so that
    late writes don't restore them.
    """
    return {
        "settings": {
            "index": {
                "knn": True,
                "number_of_shards": options.shards,
                "number_of_replicas": options.replicas,
                "refresh_interval": "-1",
                "gc_deletes": "1h",
            },
            "analysis": {
                "tokenizer": {
                    _ANALYZER: {"type": "whitespace", "max_token_length": _MAX_TOKEN_CHARS}
                },
                "analyzer": {_ANALYZER: {"type": "custom", "tokenizer": _ANALYZER}},
            },
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {SCHEMA: {}},
            "properties": _properties(dimension, fields, options.analyzer, SPACES[metric]),
        },
    }


def _properties(dimension: int, fields: Fields, analyzer: str, space: str) -> Mapping[str, Any]:
    return {
        fields.text: {"type": "text", **({"analyzer": analyzer} if analyzer else {"index": False})},
        fields.tokens: {
            "type": "text",
            "analyzer": _ANALYZER,
            "index_options": "freqs",
        },
        # The words again, for counts and completions: a text field has no values to aggregate.
        words_of(fields): {"type": "keyword", "index": False},
        fields.terms: {"type": "keyword", "doc_values": False},
        fields.metadata: {"type": "object", "enabled": False},
        fields.vector: {
            "type": "knn_vector",
            "dimension": dimension,
            "method": {
                "name": "hnsw",
                "engine": "lucene",
                "space_type": space,
                "parameters": {"m": 16, "ef_construction": 100},
            },
        },
    }


def words_of(fields: Fields) -> str:
    """The field with the distinct tokens of a passage."""
    return f"{fields.tokens}_distinct"
