"""The columns of the retrieval lab: a search mode each, its hits as cards that explain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import streamlit as st

from ui import words
from ui.errors import show_problem
from ui.explanation import explanation_html, passage_html, snippet_html
from ui.html import escape
from ui.service_text import said
from ui.services import principal

if TYPE_CHECKING:
    from services.lab import Comparison, LabHit, ModeResult
    from services.labels import LabelService

ABREAST = 4
COLOURS = 8


@dataclass(frozen=True)
class View:
    """What the columns are drawn from; `letters` are those of the shared passages by id."""

    comparison: "Comparison"
    letters: Mapping[str, str]
    labels: "LabelService"

    @cached_property
    def right(self) -> frozenset[str]:
        """The ids of the passages that the person marked as right for the question."""
        asked = self.comparison.question.strip()
        given = self.labels.list(principal())
        return frozenset(one.passage_id for one in given if one.question == asked and one.grade > 0)


def show_columns(view: View) -> None:
    """Show a column for each mode, a few abreast; on a narrow screen one below the other."""
    with st.container(key="lab-columns"):
        for row in _rows(view.comparison.results):
            for column, result in zip(st.columns(len(row)), row, strict=True):
                with column:
                    _show_mode(view, result)


def _rows(results: Sequence["ModeResult"]) -> Iterator[Sequence["ModeResult"]]:
    """So many rows that none holds more than fit, all about as long."""
    rows = -(-len(results) // ABREAST)
    length = -(-len(results) // rows)
    return (results[start : start + length] for start in range(0, len(results), length))


def _show_mode(view: View, result: "ModeResult") -> None:
    st.html(_mode_html(result))
    if result.error:
        show_problem(f"{words.MODE_FAILED} {said(result.error)}")
    elif not result.hits:
        st.caption(words.NOTHING_FOUND)
    for hit in result.hits:
        _show_hit(view, result, hit)


def _mode_html(result: "ModeResult") -> str:
    spent = "" if result.error else words.MILLISECONDS.format(ms=result.milliseconds)
    return (
        f'<header class="fn-mode"><h3>{escape(words.MODES[result.mode])}</h3><span>{spent}</span>'
        f"<p>{escape(words.MODE_NOTES[result.mode])}</p></header>"
    )


def _show_hit(view: View, result: "ModeResult", hit: "LabHit") -> None:
    key = f"{result.mode}-{hit.passage_id}"
    text, matched = hit.document.page_content, hit.explanation.matched_words
    with st.container(border=True, gap="small", key=f"lab-hit-{key}"):
        st.html(hit_html(view, hit))
        with st.expander(words.WHY):
            st.html(explanation_html(hit.explanation) + passage_html(text, matched))
            _show_label(view, hit, key)


def hit_html(view: View, hit: "LabHit") -> str:
    """The face of a card: rank, title, place, snippet, which modes found it, its score."""
    noted = hit.document.metadata
    snippet = snippet_html(hit.document.page_content, hit.explanation.matched_words)
    return (
        f'<article class="fn-hit"><header><span class="fn-n">{hit.rank}</span>'
        f'<span class="fn-title">{escape(noted["title"])}</span>{_letter(view, hit)}</header>'
        f'<div class="fn-where">{_where(hit)}</div>{snippet}<footer>{_overlap(view, hit)}'
        f"<span>{escape(words.SCORE)} {hit.explanation.score:.3f}</span></footer></article>"
    )


def _letter(view: View, hit: "LabHit") -> str:
    letter = view.letters.get(hit.passage_id)
    if letter is None:
        return ""
    colour = list(view.letters).index(hit.passage_id) % COLOURS
    return f'<span class="fn-letter fn-p{colour}">{letter}</span>'


def _where(hit: "LabHit") -> str:
    noted = hit.document.metadata
    page = words.PAGE.format(page=noted["page"]) if noted["page"] else ""
    headings = " › ".join(noted["heading_path"])
    return "".join(f"<span>{escape(part)}</span>" for part in (headings, page) if part)


def _overlap(view: View, hit: "LabHit") -> str:
    right = _badge("ok", words.RIGHT) if hit.passage_id in view.right else ""
    found, total = len(view.comparison.found_by(hit.passage_id)), view.comparison.searched
    if total == 1:
        return right
    if found == 1:
        return _badge("lone", words.ONLY_HERE) + right
    return _badge("shared", words.OVERLAP.format(n=found, total=total)) + right


def _badge(kind: str, text: str) -> str:
    return f'<span class="fn-badge fn-{kind}">{escape(text)}</span>'


def _show_label(view: View, hit: "LabHit", key: str) -> None:
    """The button that marks the passage as right for the question, or takes that back."""
    question, passage_id = view.comparison.question, hit.passage_id
    if passage_id in view.right:
        if st.button(words.TAKE_BACK, key=f"wrong-{key}", icon=":material/undo:"):
            view.labels.remove(principal(), question, passage_id)
            st.rerun()
    elif st.button(words.RIGHT_PASSAGE, key=f"right-{key}", icon=":material/check:"):
        view.labels.label(principal(), question, passage_id, 1)
        st.rerun()
