"""The retrieval lab without a browser, over a scripted search."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import streamlit as st
from langchain_core.documents import Document
from streamlit.testing.v1 import AppTest

from domain import SearchMode
from domain.errors import InputError, ModelUnavailableError
from services.evaluation.label_sets import LabelFigures, ModeFigures
from services.evaluation.metrics import Estimate
from services.search.lab_service import LabService
from tests.pages.conftest import (
    Library,
    NoExtras,
    Status,
    install_services,
    page_in_frame,
    page_text,
)
from ui.text import words

PAGE = "retrieval_lab.py"
FORM_MODES = [SearchMode.SIMILARITY, SearchMode.BM25, SearchMode.ENSEMBLE, SearchMode.CONVEX]


@dataclass
class Search:
    """Finds the same passages in every mode unless a test says otherwise."""

    hits: dict = field(default_factory=dict)
    conditions: list = field(default_factory=list)
    rerank_flags: list = field(default_factory=list)
    reranking: object = None

    def search(self, principal, question, *, mode, k, condition, rerank):
        self.conditions.append(condition)
        self.rerank_flags.append(rerank)
        ids = self.hits.get(mode, ["p1", "p2"])
        if isinstance(ids, Exception):
            raise ids
        return [passage(id_, rank) for rank, id_ in enumerate(ids[:k], start=1)]


def passage(id_, rank):
    part = {"ranker": "dense", "rank": rank, "score": 0.9 / rank, "share": 0.9 / rank}
    metadata = {"title": f"Title of {id_}", "heading_path": ("Leave",), "page": 2}
    metadata["format"] = "md"
    metadata |= {"score": 0.9 / rank, "parts": [part]}
    return Document(f"New employees get 25 days ({id_}).", id=id_, metadata=metadata)


@dataclass
class Labels:
    """Keeps labels in memory and returns the figures that a test sets."""

    stored: list = field(default_factory=list)
    figures: LabelFigures | Exception | None = None

    def label(self, principal, question, passage_id, grade):
        label = SimpleNamespace(question=question, passage_id=passage_id, grade=grade)
        self.stored.append(label)

    def remove(self, principal, question, passage_id):
        self.stored = [one for one in self.stored if one.passage_id != passage_id]

    def list(self, principal):
        return self.stored

    def evaluate(self, principal, modes=None, k=10):
        if isinstance(self.figures, Exception):
            raise self.figures
        return self.figures


@dataclass
class Services:
    sign_in = None
    search: Search = field(default_factory=Search)
    labels: Labels = field(default_factory=Labels)
    library: Library = field(default_factory=Library)
    sources: NoExtras = field(default_factory=NoExtras)

    def __post_init__(self) -> None:
        self.lab = LabService(self.search)

    def warm_up(self) -> None:
        pass


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    yield from install_services(Services(), monkeypatch)


@pytest.fixture
def page(services: Services) -> AppTest:
    return page_in_frame(PAGE).run()


def button(page: AppTest, label: str):
    return next(one for one in page.button if one.label == label)


def compare(page: AppTest, question: str = "How many days?") -> str:
    page.text_input(key="lab_question").set_value(question)
    button(page, words.LAB_COMPARE).click().run()
    return html_of(page)


def html_of(page: AppTest) -> str:
    return page_text(page) + "".join(element.value for element in page.html)


def test_each_selected_mode_has_a_column_with_its_time_and_hits(page):
    html = compare(page)
    for mode in FORM_MODES:
        assert f"<h3>{words.MODES[mode]}</h3>" in html
    assert " ms</span>" in html
    assert "Title of p1" in html
    assert "Leave" in html


def test_only_selected_modes_are_searched(page):
    page.button_group[0].set_value([SearchMode.BM25])
    html = compare(page)
    assert words.MODES["bm25"] in html
    assert f"<h3>{words.MODES['convex']}</h3>" not in html


def test_passages_found_by_one_or_several_modes_are_marked(page, services):
    services.search.hits = {SearchMode.BM25: ["p1", "p3"]}
    html = compare(page)
    assert "in 4 of 4 modes" in html
    assert "in 3 of 4 modes" in html
    assert words.ONLY_HERE in html
    assert '<span class="fn-letter fn-p0">A</span>' in html


def test_each_hit_is_explained(page):
    compare(page)
    assert len(page.expander) >= 8
    why = next(one for one in page.expander if one.label == words.WHY)
    html = "".join(element.value for element in why.html)
    assert "<td>Meaning</td><td>1</td><td>0.900</td>" in html
    assert words.MATCHED_WORDS in html
    assert "<mark>days</mark>" in html


def test_a_failing_mode_shows_its_error_next_to_the_others(page, services):
    services.search.hits = {SearchMode.SIMILARITY: ModelUnavailableError("It is down.")}
    html = compare(page)
    assert f"{words.MODE_FAILED} It is down." in html
    assert "in 3 of 3 modes" in html


def test_no_chart_is_drawn_without_results(page, services):
    services.search.hits = {mode: [] for mode in SearchMode}
    html = compare(page)
    assert words.NO_PASSAGE_FOUND in html
    assert words.RANK_CHART not in html


def test_a_filter_reaches_the_search(page, services):
    page.multiselect[0].set_value(["pdf"])
    compare(page)
    assert services.search.conditions[-1] == {"format": {"$in": ["pdf"]}}


def test_the_reranking_switch_requires_a_reranker(page, services):
    assert not page.toggle
    services.search.reranking = object()
    page.run().toggle[0].set_value(True)
    compare(page)
    assert services.search.rerank_flags[-1] is True


def test_a_sample_question_is_compared_immediately(page):
    button(page, words.SAMPLE_QUESTIONS[1]).click().run()
    assert page.text_input(key="lab_question").value == words.SAMPLE_QUESTIONS[1]
    assert "Title of p1" in html_of(page)


def test_a_passage_can_be_labeled_as_right_in_every_mode_and_unlabeled(page, services):
    compare(page)
    button(page, words.RIGHT_PASSAGE).click().run()
    [label] = services.labels.stored
    assert (label.question, label.passage_id, label.grade) == ("How many days?", "p1", 1)
    assert html_of(page).count(f">{words.RIGHT}</span>") >= len(FORM_MODES)
    button(page, words.TAKE_BACK).click().run()
    assert services.labels.stored == []


def test_modes_are_evaluated_with_bars_for_recall_and_ndcg(page, services):
    mean = Estimate(0.5, 0.3, 0.7)
    row = ModeFigures(SearchMode.BM25, 3, 10, mean, mean, mean, 4.0)
    services.labels.figures = LabelFigures((row,), ("Few labels: 3 questions.",))
    compare(page)
    button(page, words.RIGHT_PASSAGE).click().run()
    button(page, words.MEASURE).click().run()
    html = html_of(page)
    assert "nDCG@10" in html
    assert "Recall@10" in html
    assert "Few labels: 3 questions." in html


def test_an_evaluation_without_labels_says_what_to_do(page, services):
    services.labels.figures = InputError("Mark one in the lab.")
    compare(page)
    button(page, words.RIGHT_PASSAGE).click().run()
    button(page, words.MEASURE).click().run()
    assert "Mark one in the lab." in html_of(page)


def test_an_empty_library_says_how_to_fill_it_and_runs_no_search(services, monkeypatch):
    monkeypatch.setattr(st, "page_link", lambda _page, *, label, **_: st.write(label))
    services.library.now = Status(documents=0)
    page = page_in_frame(PAGE)
    html = html_of(page.run())
    assert words.LIBRARY_EMPTY in html
    assert words.EMPTY_IMPORT in html
    assert not page.text_input
