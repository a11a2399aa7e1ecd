"""The crash protocol, interrupted before and after each of its steps."""

import itertools
from dataclasses import dataclass, replace

import pytest

from domain import CancelledError, ImportItem, Outcome, Stage
from services.imports.index_writer import IndexWriter, entries_of
from services.imports.new_version import split_document
from services.long_work import never
from storage.ledger.document_store import StoredDocument, document_id
from storage.ledger.ledger import Ledger, NewVersion
from tests.fakes.library import DictLoader, Library


class Killed(BaseException):
    pass


@dataclass
class Fuse:
    """Lets `left` calls pass, and raises Killed before or directly after the next one."""

    left: int
    after: bool

    def call(self, method, *arguments):
        self.left -= 1
        if self.left >= 0:
            return method(*arguments)
        if self.after:
            method(*arguments)
        raise Killed


class Fused:
    """A proxy that passes each method call through the fuse."""

    def __init__(self, target, fuse):
        self._target = target
        self._fuse = fuse

    def __getattr__(self, name):
        method = getattr(self._target, name)
        return lambda *arguments: self._fuse.call(method, *arguments)


def new_version(library, key, text, revision):
    document = StoredDocument(
        id=document_id(library.source.id, key),
        source_id=library.source.id,
        key=key,
        version=f"v{revision}",
        formats_version=1,
        title=key,
        location=key,
        format="txt",
        encoding=None,
        pages=(),
        warnings=(),
        details={},
        imported_at=library.source.created_at,
        revision=revision,
    )
    passages = split_document(document, text, library.index_spec)
    return NewVersion(document, text, passages, ImportItem(key, key, Outcome.CHANGED))


def latest_import(library):
    return library.import_store.latest(library.source.id).id


def write(library, versions, fuse):
    store = library.stores.open_afresh(library.indexes.active())
    store.__dict__.update(
        passages=Fused(store.passages, fuse), keywords=Fused(store.keywords, fuse)
    )
    active = library.imports._active
    embed_and_write(
        IndexWriter(Fused(active.ledger, fuse), store, active.lock),
        latest_import(library),
        versions,
    )


def writer_of(library):
    return library.imports._active.writer_of(library.active)


def embed_and_write(writer, import_id, versions, cancelled=never, on_part=lambda *_: None):
    vectors = writer.embed(entries_of(versions), cancelled, on_part)
    writer.write(import_id, versions, vectors, cancelled, on_part)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", range(8))
def test_a_version_interrupted_at_any_step_is_stored_completely_or_not_at_all(
    tmp_path, step, after
):
    library = Library(tmp_path)
    library.load(DictLoader({"old": "the first text. " * 60, "other": "something else"}))
    before = library.texts()
    versions = [new_version(library, "old", "the second text. " * 50, 2)]
    versions.append(new_version(library, "new", "a third text. " * 50, 1))

    with pytest.raises(Killed):
        write(library, versions, Fuse(step, after))
    again = Library(tmp_path)
    again.maintenance.recover()

    committed = step > 3 or (step == 3 and after)
    changed = {version.document.key: version.text for version in versions}
    assert again.texts() == (before | changed if committed else before)
    assert again.check().agrees, again.check().disagreements
    assert again.imports._active.ledger.discards(again.indexes.active().id) == []


def test_writing_has_exactly_the_steps_tested_above(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"old": "the first text. " * 60}))
    fuse = Fuse(8, after=False)
    write(library, [new_version(library, "old", "the second text. " * 50, 2)], fuse)
    assert fuse.left == 0


def test_a_version_survives_an_interrupted_rewrite(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"old": "nothing. " * 60}))
    version = new_version(library, "old", "the text. " * 60, 2)
    write(library, [version], Fuse(100, after=False))

    with pytest.raises(Killed):
        write(library, [version], Fuse(2, after=False))
    again = Library(tmp_path)
    again.maintenance.recover()
    assert again.texts() == {"old": version.text}
    assert again.check().agrees


def test_cancellation_while_embedding_writes_nothing(tmp_path, monkeypatch):
    library = Library(tmp_path)
    library.load(DictLoader({"old": "the first text"}))
    version = new_version(library, "big", "words and words. " * 5000, 1)
    requests = iter([False, True])
    embedded_before = library.embeddings.texts
    monkeypatch.setattr(Ledger, "commit", lambda *_: pytest.fail("committed"))
    with pytest.raises(CancelledError):
        embed_and_write(writer_of(library), "import", [version], lambda: next(requests))
    assert library.embeddings.texts - embedded_before < len(version.passages)
    assert library.check().agrees


def test_cancellation_between_two_writes_leaves_only_garbage(tmp_path, monkeypatch):
    monkeypatch.setattr("services.imports.index_writer._PASSAGES_PER_COMMIT", 2)
    library = Library(tmp_path)
    library.load(DictLoader({"old": "the first text"}))
    version = new_version(library, "big", "words and words. " * 100, 1)
    monkeypatch.setattr(Ledger, "commit", lambda *_: pytest.fail("committed"))
    writer = writer_of(library)
    before = library.active.passages.ids()
    with pytest.raises(CancelledError):
        embed_and_write(
            writer,
            "import",
            [version],
            lambda: len(library.active.passages.ids()) > len(before),
        )
    assert library.active.passages.ids()[:-2] == before
    writer.collect_garbage()
    assert library.active.passages.ids() == before
    assert library.check().agrees


def test_the_stores_are_loaded_before_the_uninterruptible_write(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"old": "the first text"}))
    version = new_version(library, "new", "a text", 1)
    index = library.stores.open_afresh(library.indexes.active())
    stages = []

    def on_part(stage, _part, _parts):
        stages.append((stage, {"passages", "keywords"} <= vars(index).keys()))

    writer = library.imports._active.writer_of(index)
    embed_and_write(writer, latest_import(library), [version], never, on_part)
    assert stages == [(Stage.EMBEDDING, False), (Stage.WRITING, True)]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, [16, 32, 64, 128, 128]), (9, [16, 8] + [4] * 86)]
)
def test_batches_grow_while_embedding_is_fast_and_stay_small_while_it_is_slow(
    tmp_path, monkeypatch, seconds, expected
):
    library = Library(tmp_path)
    library.load(DictLoader({"old": "the first text"}))
    version = new_version(library, "big", "words and words. " * 4000, 1)
    version = replace(version, passages=version.passages[:368])
    sizes, clock = [], itertools.count(0, seconds)
    embed = library.embeddings.embed_documents
    library.embeddings.embed_documents = lambda texts: sizes.append(len(texts)) or embed(texts)
    monkeypatch.setattr("services.imports.index_writer.time.monotonic", lambda: next(clock))
    parts = []
    embed_and_write(
        writer_of(library),
        latest_import(library),
        [version],
        never,
        lambda *part: parts.append(part),
    )
    assert sizes == expected
    assert parts[-1] == (Stage.WRITING, 368, 368)
