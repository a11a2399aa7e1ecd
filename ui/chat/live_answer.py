"""An answer and its progress on the page while it is written."""

import time
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from bootstrap import Services
from domain import Citation, RetrievedPassage, Step, StepState, Turn, TurnState
from ui.chat.citation_view import evidence_html, plain_marker
from ui.chat.reasoning_view import LiveReasoning
from ui.chat.step_view import LiveSteps, seconds_html, steps_html
from ui.chat.turn_actions import show_actions
from ui.shared.safe_html import answer_html, escape, run_script, strong_html
from ui.text import words

TITLES = 3  # the maximum shown while documents are read


def working_html(
    question: str = "",
    sources: Sequence[RetrievedPassage] | None = None,
    *,
    answering: bool = False,
) -> str:
    """The progress: searching, reading the passages, answering."""
    steps = [_searching(question)]
    if sources is not None:
        steps.append(_reading(sources) if sources else escape(words.NO_PASSAGE_FOUND))
    if answering:
        steps.append(escape(words.ANSWERING))
    return _progress_html(*steps)


def activity_html(turn: Turn) -> str:
    """A summary line that expands to the documents, or to the agent's steps."""
    if turn.steps or turn.search.by_agent:
        return _agent(turn)
    if not turn.standalone_question:
        return ""
    parts = [_search_summary(turn), _retrieval_summary(turn), _seconds(turn)]
    line = " · ".join(part for part in parts if part)
    documents = "".join(f"<li>{escape(title)}</li>" for title in _titles(turn.sources))
    if not documents:
        return f'<p class="fn-activity">{line}</p>'
    unfolded = f"<details><summary>{line}</summary><ul>{documents}</ul></details>"
    return f'<div class="fn-activity">{unfolded}{_not_reranked(turn.sources)}</div>'


def doing_html(text: str) -> str:
    """The activity of an agent between and after its steps."""
    return _progress_html(escape(text))


def _progress_html(*steps: str) -> str:
    """The finished steps and the current one, as HTML."""
    *done, now = steps
    html = "".join(f"<span>{step}</span>" for step in done) + f'<span class="fn-now">{now}</span>'
    return f'<p class="fn-activity fn-steps" role="status">{html}</p>'


def _agent(turn: Turn) -> str:
    retrieved = _retrieval_summary(turn) if turn.sources else ""
    line = " · ".join(part for part in (*_step_counts(turn), retrieved, _seconds(turn)) if part)
    if not turn.steps:
        return f'<p class="fn-activity">{line}</p>'
    summary = f'<summary><span class="fn-activity">{line}</span></summary>'
    unfolded = f"<details>{summary}{steps_html(turn.steps, turn.sources)}</details>"
    return f'<div class="fn-taken">{unfolded}{_not_reranked(turn.sources)}</div>'


def _step_counts(turn: Turn) -> list[str]:
    """The number of steps, and of those that failed."""
    if not turn.steps:
        return [escape(words.NO_STEPS)] if turn.answer else []
    failed = sum(step.state is StepState.FAILED for step in turn.steps)
    steps = escape(words.count(words.STEPS, len(turn.steps)))
    return [steps, escape(words.STEPS_FAILED.format(n=failed)) if failed else ""]


def _searching(question: str) -> str:
    if not question:
        return escape(words.SEARCHING)
    return escape(words.SEARCHING_FOR).format(question=strong_html(question))


def _search_summary(turn: Turn) -> str:
    template = words.SEARCHED_FOR_EDITED if turn.standalone_given else words.SEARCHED_FOR
    return escape(template).format(question=strong_html(turn.standalone_question))


def _reading(sources: Sequence[RetrievedPassage]) -> str:
    titles = _titles(sources)
    listed = ", ".join(titles[:TITLES])
    more = len(titles) - TITLES
    if more <= 0:
        return escape(words.READING.format(titles=listed))
    return escape(words.count(words.READING_MORE, more, titles=listed))


def _retrieval_summary(turn: Turn) -> str:
    """How much was found; "" if the search did not end."""
    if not turn.sources:
        return escape(words.NO_PASSAGE_FOUND) if turn.state is TurnState.COMPLETE else ""
    sources = turn.sources
    return escape(
        words.FOUND.format(
            passages=words.count(words.PASSAGES, len(sources)),
            documents=words.count(words.DOCUMENTS, len(_titles(sources))),
        )
    )


def _seconds(turn: Turn) -> str:
    total = turn.timings_ms.get("total")
    return "" if total is None else seconds_html(total)


def _not_reranked(sources: Sequence[RetrievedPassage]) -> str:
    """Why no passage was reranked, if none was."""
    moves = [source.why.move for source in sources if source.why and source.why.move]
    reasons = {move.skipped for move in moves}
    if not moves or "" in reasons:
        return ""
    lines = [words.NOT_RERANKED.format(reason=words.translated(one)) for one in sorted(reasons)]
    return "".join(f'<p class="fn-skipped">{escape(line)}</p>' for line in lines)


def _titles(sources: Sequence[RetrievedPassage]) -> list[str]:
    """The title of each document; an imported passage may belong to none in the library."""
    titles = {source.document_id or source.name: source.name for source in sources}
    return list(titles.values())


REDRAW_S = 0.05
SHOW_STORED = "show-stored"
"""The key of an invisible button that a script clicks after a stop, to rerun the page."""


class LiveAnswer:
    """The answer while it is being written, redrawn at most every `REDRAW_S` seconds."""

    def __init__(self, services: Services) -> None:
        """Draw the beginning of a search at the current position of the page."""
        self._services = services
        with st.container(key="turn-live"):  # styled like a finished turn
            with st.container(key="main-live"):
                self._steps = LiveSteps(st.container(key="live-steps"))
                self._activity = st.empty()
                self._reasoning = LiveReasoning(st.empty())
                self._body = st.empty()
            self._evidence = st.empty()
        self.problems, self._actions = st.container(), st.container(key="live-actions")
        self._question, self._text = "", ""
        self._by_agent = self.has_begun = False
        self._sources: tuple[RetrievedPassage, ...] = ()
        self._citations: tuple[Citation, ...] = ()
        self._drawn_at_s = 0.0
        self._activity.html(working_html())
        self.draw(stoppable=True)

    def begin(self, turn: Turn) -> None:
        """Draw the actions for a stopped or failed answer in advance.

        The style sheet shows them as soon as the script no longer runs.
        """
        self.has_begun = True
        self._turn = turn
        self._by_agent = turn.search.by_agent
        if self._by_agent:
            self._activity.html(doing_html(words.DECIDING))
        with self._actions:
            show_actions(self._services, turn)
            st.button(SHOW_STORED, key=SHOW_STORED)
            run_script("stopped")

    @property
    def _is_due(self) -> bool:
        return time.monotonic() - self._drawn_at_s > REDRAW_S

    def wait(self) -> None:
        """Redraw periodically, because a script can only be stopped while it draws."""
        if self._is_due:
            self._drawn_at_s = time.monotonic()
            self.draw(stoppable=True)

    def search(self, question: str) -> None:
        """Draw the question that is searched."""
        self._question = question
        self._activity.html(working_html(question))

    def step(self, step: Step) -> None:
        """Draw a step that begins or has ended; the text before it is not part of the answer."""
        self._steps.take(step)
        self._steps.draw(self._sources)
        if self._steps.are_running:
            self._activity.empty()  # the steps show the activity themselves
        else:
            self._activity.html(doing_html(words.DECIDING))
        if step.state is StepState.RUNNING:
            self._text, self._citations = "", ()
            self._evidence.empty()
            self.draw(stoppable=True)

    def find(self, sources: tuple[RetrievedPassage, ...]) -> None:
        """Draw the passages at their step, or as being read."""
        self._sources = sources
        self._steps.draw(sources)
        if not self._by_agent:
            self._activity.html(working_html(self._question, sources))

    def reason(self, text: str) -> None:
        """Draw more of the reasoning."""
        self._reasoning.add(text)
        if self._is_due:
            self._reasoning.draw()
        self.wait()

    def write(self, text: str) -> None:
        """Draw more of the answer."""
        if not self._text:
            self._reasoning.draw()
            self._activity.html(self._answering_html())
        self._text += text
        self.wait()

    def cite(self, citation: Citation) -> None:
        """Draw the source of a citation that was found in its document, with the quote."""
        if citation in self._citations:
            return
        self._citations += (citation,)
        self.draw(stoppable=True)
        numbers = {one.n for one in self._citations}
        sources = tuple(source for source in self._sources if source.n in numbers)
        self._evidence.html(
            evidence_html(replace(self._turn, sources=sources, citations=self._citations))
        )

    def _answering_html(self) -> str:
        if self._by_agent or not self._question:  # a greeting is answered without a search
            return doing_html(words.ANSWERING)
        return working_html(self._question, self._sources, answering=True)

    def draw(self, *, stoppable: bool = False) -> None:
        """Draw the text so far.

        After the reader stops the answer, nothing more can be drawn, so a hidden note is drawn in
        advance. The style sheet shows it as soon as the script no longer runs.
        """
        note = f'<div class="fn-notice fn-stopped">{words.STOPPED}</div>' if stoppable else ""
        self._body.html(answer_html(self._text, plain_marker(self._sources)) + note)
