"""Compares the ledger with the stores of the active index, passage by passage."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from domain import Passage
from errors import StorageError
from storage.index_files import IndexFiles
from storage.index_stores import IndexStore
from storage.ledger.document_store import Documents
from storage.ledger.ledger import Ledger

if TYPE_CHECKING:
    from storage.vectors.passage_store import DeepLakePassages


class ListsIds(Protocol):
    """The interface of a store that the check uses."""

    def ids(self) -> Iterable[str]:
        """The id of every passage."""
        ...


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The counts of documents and passages, and a description of each disagreement."""

    documents: int
    passages: int
    disagreements: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the ledger, the vector store, and the keyword index contain the same passages."""
        return not self.disagreements


def check_index(documents: Documents, ledger: Ledger, index: IndexStore) -> CheckReport:
    """Compare all passages without changing anything. The caller holds the writer lock.

    For a damaged store, only the damaged files are reported, because reading it could crash the
    process.
    """
    index_id = index.index.id
    in_ledger = documents.passage_ids(index_id)
    if in_ledger:
        index.expect_files()
    disagreements = [
        *_compare_store("vector store", index.passage_files, in_ledger, lambda: index.passages),
        *_compare_store("keyword index", index.keyword_files, in_ledger, lambda: index.keywords),
        *(f"passage {id_} is discarded but not deleted" for id_ in ledger.discarded(index_id)),
        *_compare_texts(documents, index),
    ]
    # If the folder is missing, both stores report the same message.
    return CheckReport(documents.count(), len(in_ledger), tuple(dict.fromkeys(disagreements)))


def _compare_store(
    store: str, files: IndexFiles, in_ledger: set[str], open_store: Callable[[], ListsIds]
) -> Iterator[str]:
    try:
        passages = open_store()
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
        yield f"the {store} has {len(in_store) - len(set(in_store))} passages more than once"


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
    stored = {one.id: one for one in (store.get_by_ids(ids) if store else ())}
    for passage in passages:
        where = f"passage {passage.id} of {key}"
        if text[passage.start : passage.end] != passage.text:
            yield f"{where} differs from its document at {passage.start}-{passage.end}"
        indexed = stored.get(passage.id)
        if indexed is not None and not _same(indexed.page_content, indexed.metadata, passage):
            yield f"{where} is different in the vector store"


def _same(text: str, metadata: dict[str, object], passage: Passage) -> bool:
    return text == passage.text and metadata.get("document_id") == passage.document_id
