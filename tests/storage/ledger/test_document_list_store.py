import dataclasses
from datetime import UTC, datetime, timedelta
from unicodedata import normalize

import pytest
from sqlalchemy import insert

from domain import DocumentFilter, DocumentOrder
from storage.ledger.document_list_store import PASSAGE_BOUNDS, DocumentList
from storage.ledger.ledger_tables import DocumentRow
from storage.ledger.source_store import Sources
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
DEFAULTS = {
    "version": "1", "formats_version": 1, "location": "/docs/x", "format": "md",
    "encoding": "utf-8", "pages": [], "warnings": [], "details": {}, "imported_at": NOW,
    "revision": 1, "characters": 100, "script": "latin", "passages": 1, "longest_passage": 100,
}  # fmt: skip


class Shelf:
    """Inserts documents directly into the ledger; their titles are also their ids and keys."""

    def __init__(self, data_dir):
        self.database = open_ledger(data_dir)
        self.list = DocumentList(self.database)
        self.docs = Sources(self.database).ensure("directory", "/docs", name="docs").id
        self.wiki = Sources(self.database).ensure("directory", "/wiki", name="wiki").id

    def put(self, title, **columns):
        own = {"id": title, "key": title, "title": title, "source_id": self.docs}
        row = DEFAULTS | own | columns
        with self.database.write() as session:
            session.execute(insert(DocumentRow), [row])

    def titles(self, words="", order=DocumentOrder.TITLE, *, limit=50, offset=0, **filters):
        criteria = DocumentFilter(words, **filters)
        page = self.list.page(criteria, order, limit=limit, offset=offset)
        if not offset and limit == 50:
            assert self.list.count(criteria) == len(page) == len(set(self.list.ids(criteria)))
        return [document.title for document in page]


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


@pytest.mark.parametrize("words", ["leave", "LEAVE", "eav", "policy leave", "  leave  "])
def test_titles_are_searched_for_substrings_in_any_case(shelf, words):
    shelf.put("Leave policy")
    shelf.put("Travel policy")
    assert shelf.titles(words) == ["Leave policy"]


@pytest.mark.parametrize("words", ["휴가", "가 규", "休暇", "été", "ÉTÉ", "отпуск"])
def test_titles_are_searched_in_any_script_and_case(shelf, words):
    shelf.put("연차휴가 규정 / 年次休暇規程 / Congés d'Été / ОТПУСК")
    shelf.put("Leave policy")
    assert len(shelf.titles(words)) == 1


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("words", ["급여", "여 규", "ガイド", "été", "ÉTÉ", "йод", "ÉTÉ 급여"])
def test_titles_are_searched_in_any_unicode_form(shelf, words, stored, form):
    shelf.put(normalize(stored, "급여 규정 / 新人ガイド / Congés d'Été / ЙОД"))
    shelf.put(normalize(stored, "휴가 안내 / 新人研修 / Congés d'hiver"))
    assert len(shelf.titles(normalize(form, words))) == 1


def test_words_of_mixed_unicode_forms_are_found(shelf):
    shelf.put("급여 규정")
    shelf.put(normalize("NFD", "급여 안내"))
    assert len(shelf.titles("급" + normalize("NFD", "여"))) == 2


def test_keys_are_searched_too(shelf):
    shelf.put("Leave policy", key="handbook/leave.md")
    assert shelf.titles("handbook/") == ["Leave policy"]
    assert shelf.titles("handbook policy") == ["Leave policy"]


@pytest.mark.parametrize(
    ("words", "title"), [("100%", "100% remote"), ("a_b", "a_b"), ("/", "x/y")]
)
def test_sql_wildcards_are_matched_literally(shelf, words, title):
    for each in ("100% remote", "100 remote", "a_b", "acb", "x/y"):
        shelf.put(each)
    assert shelf.titles(words) == [title]


def test_documents_are_filtered_by_source_format_script_and_warnings(shelf):
    shelf.put("a")
    shelf.put("b", source_id=shelf.wiki)
    shelf.put("c", format="pdf", script="korean")
    shelf.put("d", warnings=["probably a scan"])
    assert shelf.titles(sources=(shelf.wiki,)) == ["b"]
    assert shelf.titles(sources=()) == []
    assert shelf.titles(formats=("pdf", "docx")) == ["c"]
    assert shelf.titles(scripts=("korean",)) == ["c"]
    assert shelf.titles(warned=True) == ["d"]
    assert shelf.titles(sources=(shelf.docs,), formats=("md",)) == ["a", "d"]


def test_documents_are_sorted_by_title_date_passages_or_density(shelf):
    pages = [[0, 1], [50, 2]]
    shelf.put("b", imported_at=NOW + timedelta(days=1), pages=pages, characters=20)
    shelf.put("A", passages=9, pages=pages, characters=4000)
    shelf.put("c", passages=5, imported_at=NOW + timedelta(days=2))
    assert shelf.titles() == ["A", "b", "c"]
    assert shelf.titles(order=DocumentOrder.NEWEST) == ["c", "b", "A"]
    assert shelf.titles(order=DocumentOrder.PASSAGES) == ["A", "c", "b"]
    assert shelf.titles(order=DocumentOrder.DENSITY) == ["b", "A", "c"]


def test_pages_contain_every_document_once(shelf):
    for number in range(7):
        shelf.put(f"{number}")
    pages = [shelf.titles(limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert pages == [["0", "1", "2"], ["3", "4", "5"], ["6"], []]


def test_rows_contain_pages_characters_per_page_and_warnings(shelf):
    shelf.put("scan", pages=[[0, 1], [9, 2]], characters=11, warnings=["probably a scan"])
    shelf.put("note")
    scan, note = shelf.list.with_ids(["scan", "missing", "note"])
    assert (scan.pages, scan.characters_per_page, scan.warnings) == (2, 6, ("probably a scan",))
    assert (note.pages, note.characters_per_page) == (0, None)
    assert note.imported_at == NOW
    assert dataclasses.replace(note, title="x").revision == 1


def test_documents_are_counted_by_source_format_and_script(shelf):
    shelf.put("a")
    shelf.put("b")
    shelf.put("c", source_id=shelf.wiki, format="pdf", script="korean")
    tallies = set(map(tuple, shelf.list.tallies()))
    assert tallies == {(shelf.docs, "md", "latin", 2), (shelf.wiki, "pdf", "korean", 1)}


def test_documents_are_grouped_by_their_number_of_passages(shelf):
    for number, passages in enumerate([0, 1, 2, 3, 5, 6, 200, 201, 9999]):
        shelf.put(f"{number}", passages=passages)
    groups = shelf.list.by_passages([shelf.docs])
    assert list(groups) == [*PASSAGE_BOUNDS, None]
    some = {bound: documents for bound, documents in groups.items() if documents}
    assert some == {0: 1, 1: 1, 2: 1, 5: 2, 10: 1, 200: 1, None: 2}
    assert not any(shelf.list.by_passages([shelf.wiki]).values())
