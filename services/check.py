"""Compares the ledger with the stores of the active index, passage by passage."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from domain import Passage
from errors import StorageError
from storage.documents import Documents
from storage.index_files import IndexFiles
from storage.index_stores import IndexStore
from storage.ledger import Ledger

if TYPE_CHECKING:
    from storage.passages import DeepLakePassages


class ListsIds(Protocol):
    """The part of a store that is compared."""

    def ids(self) -> Iterable[str]:
        """The id of every passage."""
        ...


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check looked at, and each disagreement it found, in words."""

    documents: int
    passages: int
    disagreements: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether ledger, vector store and keyword index hold exactly the same."""
        return not self.disagreements


def check_index(documents: Documents, ledger: Ledger, index: IndexStore) -> CheckReport:
    """Compare everything; nothing is changed. Its caller holds the writer lock.

    Of a store with damaged files these are named and nothing else is compared: reading it could
    end the process.
    """
    index_id = index.index.id
    in_ledger = documents.passage_ids(index_id)
    if in_ledger:
        index.expect_files()
    found = [
        *_compare_store("vector store", index.passage_files, in_ledger, lambda: index.passages),
        *_compare_store("keyword index", index.keyword_files, in_ledger, lambda: index.keywords),
        *(f"passage {id_} is discarded but not swept" for id_ in ledger.discarded(index_id)),
        *_compare_texts(documents, index),
    ]
    # Without the folder, both stores are missing in the same words.
    return CheckReport(documents.count(), len(in_ledger), tuple(dict.fromkeys(found)))


def _compare_store(
    store: str, files: IndexFiles, in_ledger: set[str], opened: Callable[[], ListsIds]
) -> Iterator[str]:
    try:
        passages = opened()
        if damage := files.problems():
            yield from (f"the {store} is damaged: {files.folder}/{problem}" for problem in damage)
            return
        in_store = list(passages.ids())
    except StorageError as error:
        yield str(error)
        return
    for id_ in sorted(in_ledger - set(in_store)):
        yield f"passage {id_} is missing in the {store}"
    for id_ in sorted(set(in_store) - in_ledger):
        yield f"passage {id_} is in the {store} but not in the ledger"
    if len(in_store) != len(set(in_store)):
        yield f"the {store} holds {len(in_store) - len(set(in_store))} passages more than once"


def _compare_texts(documents: Documents, index: IndexStore) -> Iterator[str]:
    try:
        store = None if index.passage_files.problems() else index.passages
        for document_id in documents.ids():
            yield from _compare_document(documents, index.index.id, store, document_id)
    except StorageError as error:
        yield str(error)


def _compare_document(
    documents: Documents, index_id: str, store: "DeepLakePassages | None", document_id: str
) -> Iterator[str]:
    key, text = documents.get(document_id).key, documents.text(document_id)
    passages = documents.passages(document_id, index_id)
    if text.strip() and not passages:
        yield f"document {key} has no passages"
    ids = [passage.id for passage in passages]
    stored = {found.id: found for found in (store.get_by_ids(ids) if store else ())}
    for passage in passages:
        where = f"passage {passage.id} of {key}"
        if text[passage.start : passage.end] != passage.text:
            yield f"{where} is not what stands at {passage.start}-{passage.end} of its document"
        there = stored.get(passage.id)
        if there is not None and not _same(there.page_content, there.metadata, passage):
            yield f"{where} is another one in the vector store"


def _same(text: str, metadata: dict[str, object], passage: Passage) -> bool:
    return text == passage.text and metadata.get("document_id") == passage.document_id
