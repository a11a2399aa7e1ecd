"""Opens the stores of an index, so that deleted files are not taken for an empty index."""

from storage.index_stores import IndexStore, IndexStores
from storage.indexes import Index, Indexes


def open_store(indexes: Indexes, stores: IndexStores, index: Index) -> IndexStore:
    """The stores of an index; both must have files if the ledger counts passages in it."""
    store = stores.open(index)
    if not store.is_complete and indexes.passages(index.id):
        store.expect_files()
    return store
