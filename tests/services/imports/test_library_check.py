"""Damage to any of the three stores is reported; an undamaged library agrees."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import text

from tests.fakes.library import Library, filled_library


@pytest.fixture
def library(tmp_path):
    library = filled_library(tmp_path, {"a.txt": "one word after another. " * 40, "b.txt": "short"})
    assert library.check().agrees
    return library


def one_passage(library):
    document_id = library.documents.versions(library.source.id)["a.txt"].document_id
    return library.documents.passages(document_id, library.indexes.active().id)[1]


def vector():
    return np.ones((1, 64), dtype=np.float32)


def execute(library, statement, **values):
    with library.database.write() as session:
        session.execute(text(statement), values)


def lose_a_vector(library, passage):
    library.active.passages.delete([passage.id])
    return "missing in the vector store"


def lose_its_words(library, passage):
    library.active.keywords.delete([passage.id])
    return "missing in the keyword index"


def lose_its_row(library, passage):
    execute(library, "DELETE FROM passages WHERE id = :id", id=passage.id)
    return "in the vector store but not in the ledger"


def leave_a_vector(library, passage):
    library.active.passages.add_vectors(["stray"], ["stray"], vector(), [{}])
    return "passage stray is in the vector store but not in the ledger"


def leave_words(library, passage):
    library.active.keywords.add([("stray", "stray")])
    return "passage stray is in the keyword index but not in the ledger"


def change_the_stored_text(library, passage):
    store = library.active.passages
    [stored] = store.get_by_ids([passage.id])
    store.add_vectors([passage.id], [passage.text + "!"], vector(), [stored.metadata])
    return "is different in the index"


def shift_the_span(library, passage):
    execute(
        library,
        'UPDATE passages SET "end" = "end" + 1 WHERE id = :id',
        id=passage.id,
    )
    return "differs from its document at"


def change_the_document(library, passage):
    execute(
        library,
        "UPDATE document_texts SET text = 'x' || text WHERE document_id = :id",
        id=passage.document_id,
    )
    return "differs from its document at"


def lose_all_passages_of_a_document(library, passage):
    ids = [
        stored.id
        for stored in library.documents.passages(passage.document_id, library.indexes.active().id)
    ]
    library.active.passages.delete(ids)
    library.active.keywords.delete(ids)
    execute(library, "DELETE FROM passages WHERE document_id = :id", id=passage.document_id)
    return "document a.txt has no passages"


def lose_the_folder(library, passage):
    shutil.rmtree(library.stores.folder(library.indexes.active().id))
    return "is missing: rebuild it with `python cli.py reindex`"


DAMAGES = [
    lose_a_vector,
    lose_its_words,
    lose_its_row,
    leave_a_vector,
    leave_words,
    change_the_stored_text,
    shift_the_span,
    change_the_document,
    lose_all_passages_of_a_document,
    lose_the_folder,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_reported_and_a_reindex_repairs_derived_data(library, damage):
    expected = damage(library, one_passage(library))
    report = library.check()
    assert not report.agrees
    assert any(expected in message for message in report.disagreements), report.disagreements

    library.reindex()
    repaired = library.check()
    assert repaired.agrees, repaired.disagreements
    assert repaired.documents == report.documents == 2


def test_a_missing_folder_is_reported_once(library):
    lose_the_folder(library, None)
    [problem] = library.check().disagreements
    assert "is missing: rebuild it" in problem


def test_a_discarded_passage_that_is_not_deleted_yet_is_reported(library):
    library.imports._active.ledger.stage(library.indexes.active().id, ["waiting"])
    assert library.check().disagreements == ("passage waiting is discarded but not deleted",)
    library.maintenance.recover()
    assert library.check().agrees


def test_an_empty_library_agrees(tmp_path):
    report = Library(tmp_path).check()
    assert report.agrees
    assert replace(report, documents=0, passages=0) == report
