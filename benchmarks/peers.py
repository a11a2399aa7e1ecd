"""Well-known vector stores, each as a `contest.Contender`.

Each holds unit vectors; stores that can also hold texts and metadata do, and are measured with
both kinds of search: "ids", and "texts" with them. "filtered" asks for ids of one group in a
hundred. Settings are each library's defaults if it has any. None sends data anywhere.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Searches
from benchmarks.our_store import (
    GROUP,
    GROUPS,
    VECTORS,
    K,
    QueryVector,
    Vectors,
    blocks,
    metadata_of,
    text_of,
)

NEIGHBORS, EF_BUILD, EF_SEARCH = 16, 100, 100
"""Of FAISS's HNSW: the values that Chroma has as defaults."""


def open_numpy(place: Path, _folder: Path) -> Searches:
    vectors = np.load(place / VECTORS)
    chosen = np.flatnonzero(np.arange(len(vectors)) % GROUPS == GROUP)

    def filtered(question: Vectors) -> list[int]:
        places: list[int] = chosen[best(vectors[chosen] @ question)].tolist()
        return places

    return {"ids": lambda question: best(vectors @ question).tolist(), "filtered": filtered}


def best(scores: Vectors) -> Any:
    k = min(K, len(scores))
    places = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return places[np.argsort(-scores[places])]


def build_faiss_flat(vectors: Vectors, folder: Path) -> None:
    import faiss

    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    faiss.write_index(flat, str(folder / "index"))


def build_faiss_hnsw(vectors: Vectors, folder: Path) -> None:
    import faiss

    graph = faiss.IndexHNSWFlat(vectors.shape[1], NEIGHBORS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = EF_BUILD
    graph.add(vectors)
    faiss.write_index(graph, str(folder / "index"))


def open_faiss(_place: Path, folder: Path) -> Searches:
    import faiss

    peer: Any = faiss  # its stubs show the C++ signatures
    index = peer.read_index(str(folder / "index"))
    allowed = np.packbits(np.arange(index.ntotal) % GROUPS == GROUP, bitorder="little")
    chosen = peer.IDSelectorBitmap(allowed)
    if hasattr(index, "hnsw"):
        index.hnsw.efSearch = EF_SEARCH
        params = peer.SearchParametersHNSW(sel=chosen, efSearch=EF_SEARCH)
    else:
        params = peer.SearchParameters(sel=chosen)

    def search(question: Vectors, params: Any = None) -> list[int]:
        rows = index.search(question[np.newaxis], K, params=params)[1][0]
        return rows[rows >= 0].tolist()  # pads with -1 if it found fewer

    # `allowed` is bound to keep it alive: the selector only holds a pointer.
    return {"ids": search, "filtered": lambda question, _alive=allowed: search(question, params)}


def _chroma(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(path=str(folder), settings=quiet)


def build_chroma(vectors: Vectors, folder: Path) -> None:
    cosine = {"hnsw": {"space": "cosine"}}
    collection = _chroma(folder).create_collection(
        "passages", configuration=cosine, embedding_function=None
    )
    for rows in blocks(vectors):
        collection.add(
            ids=[str(row) for row in rows],
            embeddings=vectors[rows.start : rows.stop],
            documents=[text_of(row) for row in rows],
            metadatas=[metadata_of(row) for row in rows],
        )


def open_chroma(_place: Path, folder: Path) -> Searches:
    held = _chroma(folder).get_collection("passages", embedding_function=None)

    def search(question: Vectors, include: tuple[str, ...] = (), where: Any = None) -> list[int]:
        found = held.query(
            query_embeddings=[question], n_results=K, include=["distances", *include], where=where
        )
        return [int(id_) for id_ in found["ids"][0]]

    return {
        "ids": search,
        "texts": lambda question: search(question, ("documents", "metadatas")),
        "filtered": lambda question: search(question, (), {"group": GROUP}),
    }


def build_lancedb(vectors: Vectors, folder: Path) -> None:
    import lancedb
    import pyarrow as pa

    dimension = vectors.shape[1]
    schema = pa.schema(
        [
            ("row", pa.int64()),
            ("vector", pa.list_(pa.float32(), dimension)),
            ("text", pa.string()),
            ("group", pa.int64()),
            ("title", pa.string()),
        ]
    )
    table = lancedb.connect(str(folder)).create_table("passages", schema=schema)
    for rows in blocks(vectors):
        flat = pa.array(vectors[rows.start : rows.stop].ravel())
        columns = {
            "row": pa.array(list(rows), pa.int64()),
            "vector": pa.FixedSizeListArray.from_arrays(flat, dimension),
            "text": [text_of(row) for row in rows],
            **{name: [metadata_of(row)[name] for row in rows] for name in ("group", "title")},
        }
        table.add(pa.table(columns, schema=schema))


def build_lancedb_hnsw(vectors: Vectors, folder: Path) -> None:
    import lancedb

    build_lancedb(vectors, folder)
    table = lancedb.connect(str(folder)).open_table("passages")
    table.create_index(metric="cosine", index_type="IVF_HNSW_SQ", vector_column_name="vector")
    table.create_scalar_index("group")


def open_lancedb(_place: Path, folder: Path) -> Searches:
    import lancedb

    table = lancedb.connect(str(folder)).open_table("passages")

    def search(question: Vectors, columns: tuple[str, ...] = (), where: str = "") -> list[int]:
        query = table.search(question).distance_type("cosine").limit(K)
        query = query.select(["row", "_distance", *columns])
        query = query.where(where, prefilter=True) if where else query
        return [row["row"] for row in query.to_list()]

    return {
        "ids": search,
        "texts": lambda question: search(question, ("text", "group", "title")),
        "filtered": lambda question: search(question, (), f"`group` = {GROUP}"),
    }


def in_memory_store(embedding: QueryVector, vectors: Vectors, texts: Sequence[str]) -> Any:
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(embedding)
    for row, (vector, text) in enumerate(zip(vectors, texts, strict=True)):
        entry = {"id": str(row), "vector": vector.tolist(), "text": text}
        store.store[str(row)] = {**entry, "metadata": {**metadata_of(row), "row": row}}
    return store


def open_in_memory(place: Path, _folder: Path) -> Searches:
    """LangChain's; opening fills it, and it always returns texts."""
    vectors = np.load(place / VECTORS)
    store = in_memory_store(QueryVector(), vectors, [text_of(row) for row in range(len(vectors))])

    def search(question: Vectors, chosen: Any = None) -> list[int]:
        found = store.similarity_search_with_score_by_vector(question.tolist(), K, filter=chosen)
        return [int(document.id or -1) for document, _ in found]

    in_group = lambda document: document.metadata["group"] == GROUP  # noqa: E731
    return {
        "ids": search,
        "texts": search,
        "filtered": lambda question: search(question, in_group),
    }
