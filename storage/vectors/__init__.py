"""The vector store: a LangChain `VectorStore` over Deep Lake, and in-memory search.

Other packages import `passage_store`, which also has the embedding model that is loaded on first
use. `passage_rows` shares a dataset among threads and processes, `vector_index` searches it, and
only `deep_lake` imports deeplake.
"""
