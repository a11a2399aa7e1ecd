"""Passages extended by their neighbors."""

import pytest

from loaders.split import split
from storage.ledger.document_store import document_id
from tests.fakes.library import DictLoader, Library

pytestmark = pytest.mark.usefixtures("ledger_kind")

SECTION = "연차 휴가는 15일입니다. 🎉 Unused days lapse in March. 新入社員は12日。 "
TEXT = "\n\n".join(
    f"# Leave\n\n## Rule {n}\n\n{SECTION * 12}\n\n\n  * last item of {n}" for n in range(4)
)


@pytest.fixture(scope="module")
def library(tmp_path_factory, ledger_kind):
    library = Library(tmp_path_factory.mktemp("data"), size=200, overlap=40)
    library.load(DictLoader({"leave.md": TEXT, "other.md": TEXT.replace("15", "16")}))
    return library


@pytest.fixture(scope="module")
def passages(library):
    leave = document_id(library.source.id, "leave.md")
    return library.documents.passages(leave, library.indexes.active().id)


def test_a_window_is_the_exact_text_from_the_first_neighbor_to_the_last(library, passages):
    ids = [passage.id for passage in passages]
    assert any(a.end > b.start for a, b in zip(passages, passages[1:], strict=False))
    for n in (0, 1, 2, 5, len(ids)):
        windows = library.documents.neighbors(ids, n)
        assert windows.keys() == set(ids)
        for position, passage in enumerate(passages):
            inside = passages[max(0, position - n) : position + n + 1]
            window = windows[passage.id]
            assert window.text == TEXT[window.start : window.end]
            assert (window.start, window.end) == (inside[0].start, inside[-1].end)
            assert (window.ordinal, window.page) == (inside[0].ordinal, inside[0].page)
            assert (window.id, window.document_id) == (passage.id, passage.document_id)


def test_the_heading_path_of_a_window_is_common_to_its_passages(library, passages):
    first_of = {passage.heading_path: passage for passage in reversed(passages)}
    inner, edge = first_of[("Leave", "Rule 0")], first_of[("Leave", "Rule 1")]
    windows = library.documents.neighbors([inner.id, edge.id], 1)
    assert windows[inner.id].heading_path == ("Leave", "Rule 0")
    assert windows[edge.id].heading_path == ("Leave",)


def test_unknown_passages_have_no_window(library, passages):
    assert library.documents.neighbors(["unknown"], 1) == {}
    assert library.documents.neighbors([], 1) == {}
    assert list(library.documents.neighbors(["unknown", passages[0].id], 1)) == [passages[0].id]


def test_the_page_of_a_window_is_that_of_its_start(tmp_path):
    text = "".join(f"Page {n} tells of days off. {'More words follow. ' * 20}\n" for n in range(4))
    pages = [(text.index(f"Page {n}"), n + 1) for n in range(4)]

    class Paged(DictLoader):
        def read(self, ref):
            document = super().read(ref)
            document.metadata["pages"] = pages
            return document

    library = Library(tmp_path)
    library.load(Paged({"a.txt": text}))
    document = library.documents.list()[0]
    passages = library.documents.passages(document.id, library.indexes.active().id)
    hit = next(passage for passage in passages if passage.page == 3)
    window = library.documents.neighbors([hit.id], 1)[hit.id]
    assert (hit.page, window.page) == (3, passages[hit.ordinal - 1].page)
    assert window.page == 2


def test_windows_never_mix_passages_of_two_indexes(tmp_path):
    """A passage may have the same id in both indexes but other neighbors."""
    text = SECTION * 20
    library = Library(tmp_path)
    library.load(DictLoader({"a.txt": text}))
    document = library.documents.list()[0]
    passages = library.documents.passages(document.id, library.indexes.active().id)
    hit, results = passages[2], []
    other = Library(tmp_path, size=500, overlap=100)
    other.reindex(on_progress=lambda _: results.append(library.documents.neighbors([hit.id], 1)))
    assert results
    for windows in results:
        assert (windows[hit.id].start, windows[hit.id].end) == (passages[1].start, passages[3].end)
    assert split(text, document_id="d", version="v", size=500, overlap=100)
