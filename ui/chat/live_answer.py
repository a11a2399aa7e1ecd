"""An answer and its progress on the page while it is written."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from domain import Citation, RetrievedPassage, SearchMode, Step, StepState, Turn, TurnState
from ui.chat.citation_view import evidence_html, plain_marker
from ui.chat.turn_actions import show_actions
from ui.shared.safe_html import answer_html, cut_html, escape, lang, run_script, strong_html
from ui.text import words

if TYPE_CHECKING:
    from bootstrap import Services


RESULT_CHARACTERS = 1200  # the rest of a tool's result is not shown
DOCUMENTS = 3  # the maximum shown for a step
FOR_THE_MODEL = "Failed: "  # the prefix of failures for the model; the page replaces it by an icon
MAIN_ARGUMENTS = ("query", "question", "document_id")
A_SECOND_MS = 1000
SHORTEST_MS = 50  # shorter durations would be shown as 0.0 s


def steps_html(
    steps: Iterable[Step], sources: Sequence[RetrievedPassage], *, live: bool = False
) -> str:
    """The steps in order; `sources` are the turn's passages so far.

    A running step is animated if `live`, and otherwise shown as interrupted.
    """
    html = "".join(_step(step, sources, live=live) for step in steps)
    role = ' role="status"' if live else ""
    return f'<div class="fn-agent"{role}>{html}</div>'


def _step(step: Step, sources: Sequence[RetrievedPassage], *, live: bool) -> str:
    runs = step.state is StepState.RUNNING
    kind = "now" if runs and live else "broken" if runs else step.state
    text = f'<p class="fn-said"{lang(step.said)}>{cut_html(step.said)}</p>' if step.said else ""
    result = _result_html(step, sources, live=live)
    tool = step.tool if step.tool in words.STEPS_ENDED else "other"
    return (
        f'{text}<div class="fn-step fn-{kind}"><span class="fn-tool fn-{tool}"></span>'
        f"<div><p>{_call_html(step, sources)}{_step_seconds(step)}</p>{result}</div></div>"
    )


def _call_html(step: Step, sources: Sequence[RetrievedPassage]) -> str:
    """A description of the call; an external tool is shown by its name."""
    arguments = {
        name: value for name, value in step.arguments.items() if value not in (None, "", [])
    }
    main = next((name for name in MAIN_ARGUMENTS if name in arguments), "")
    forms = words.STEPS_AT_WORK if step.state is StepState.RUNNING else words.STEPS_ENDED
    form = forms.get(step.tool, "")
    if not form or ("{what}" in form and not main):
        return f"<strong>{cut_html(step.tool)}</strong>{_arguments(step.tool, arguments)}"
    what = (
        _title(arguments[main], sources)
        if main == "document_id"
        else _plain(arguments.get(main, ""))
    )
    call = escape(form).format(what=strong_html(what))
    more = {name: value for name, value in arguments.items() if name != main}
    return call + _arguments(step.tool, more)


def _title(document_id: Any, sources: Sequence[RetrievedPassage]) -> str:
    """The title of the document if a passage comes from it, else its id."""
    titles = (one.name for one in sources if one.document_id == document_id)
    return next(titles, _plain(document_id))


def _arguments(tool: str, arguments: Mapping[str, Any]) -> str:
    texts = (_argument(tool, name, value) for name, value in arguments.items())
    return "".join(f' <span class="fn-argument"{lang(one)}>{cut_html(one)}</span>' for one in texts)


def _argument(tool: str, name: str, value: Any) -> str:
    """The argument in words for our own tools."""
    if tool in words.STEPS_ENDED and name == "mode" and value in list(SearchMode):
        return str(words.MODES[value])
    forms = words.STEP_ARGUMENTS if tool in words.STEPS_ENDED else {}
    form: str = forms.get(name, words.STEP_ARGUMENT)
    return form.format(name=name, value=_plain(value))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def seconds_html(milliseconds: float) -> str:
    """A duration in seconds with one decimal."""
    return escape(words.SECONDS.format(seconds=f"{milliseconds / A_SECOND_MS:.1f}"))


def _step_seconds(step: Step) -> str:
    if step.milliseconds < SHORTEST_MS:
        return ""
    return f' <span class="fn-took">{seconds_html(step.milliseconds)}</span>'


def _result_html(step: Step, sources: Sequence[RetrievedPassage], *, live: bool) -> str:
    match step.state:
        case StepState.RUNNING:
            return "" if live else f'<p class="fn-trouble">{escape(words.STEP_BROKEN_OFF)}</p>'
        case StepState.FAILED:
            error = words.translated(step.result.strip().removeprefix(FOR_THE_MODEL))
            return f'<p class="fn-trouble"{lang(error)}>{cut_html(error)}</p>'
    return _result(_passages(step, sources), step.result.strip())


def _passages(step: Step, sources: Sequence[RetrievedPassage]) -> str:
    """The number of passages, and their numbers by document."""
    passages = {source.n: source for source in sources}
    retrieved = [passages[n] for n in step.sources if n in passages]
    if not step.sources:
        is_search = step.tool == "search_documents"
        return f"<span>{escape(words.NO_PASSAGE_FOUND)}</span>" if is_search else ""
    titles = dict.fromkeys(source.name for source in retrieved)
    documents = [_document(title, retrieved) for title in list(titles)[:DOCUMENTS]]
    more = len(titles) - DOCUMENTS
    if more > 0:
        documents.append(f"<span>{escape(words.count(words.STEP_MORE_DOCUMENTS, more))}</span>")
    count = f"<span>{escape(words.count(words.PASSAGES, len(step.sources)))}</span>"
    return count + "".join(documents)


def _document(title: str, passages: Sequence[RetrievedPassage]) -> str:
    ns = (one.n for one in passages if one.name == title)
    chips = "".join(f'<span class="fn-cite">{n}</span>' for n in ns)
    return f"<span{lang(title)}>{chips} {cut_html(title)}</span>"


def _result(line: str, text: str) -> str:
    """The line, which expands to the beginning of the tool's result."""
    if not text:
        return f'<p class="fn-back">{line}</p>' if line else ""
    summary = f'<span class="fn-back">{line or escape(words.STEP_RESULT)}</span>'
    beginning = f"<div{lang(text)}>{cut_html(text, RESULT_CHARACTERS)}</div>"
    return f'<details class="fn-result"><summary>{summary}</summary>{beginning}</details>'


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
    parts = [_searched(turn), _retrieved(turn), _seconds(turn)]
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
    retrieved = _retrieved(turn) if turn.sources else ""
    line = " · ".join(part for part in (*_counted(turn), retrieved, _seconds(turn)) if part)
    if not turn.steps:
        return f'<p class="fn-activity">{line}</p>'
    summary = f'<summary><span class="fn-activity">{line}</span></summary>'
    unfolded = f"<details>{summary}{steps_html(turn.steps, turn.sources)}</details>"
    return f'<div class="fn-taken">{unfolded}{_not_reranked(turn.sources)}</div>'


def _counted(turn: Turn) -> list[str]:
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


def _searched(turn: Turn) -> str:
    template = words.SEARCHED_FOR_EDITED if turn.standalone_given else words.SEARCHED_FOR
    return escape(template).format(question=strong_html(turn.standalone_question))


def _reading(sources: Sequence[RetrievedPassage]) -> str:
    titles = _titles(sources)
    listed = ", ".join(titles[:TITLES])
    more = len(titles) - TITLES
    if more <= 0:
        return escape(words.READING.format(titles=listed))
    return escape(words.count(words.READING_MORE, more, titles=listed))


def _retrieved(turn: Turn) -> str:
    """How much was found; "" if the search did not end."""
    if not turn.sources:
        return escape(words.NO_PASSAGE_FOUND) if turn.state is TurnState.COMPLETE else ""
    sources = turn.sources
    documents = len({source.document_id for source in sources})
    return escape(
        words.FOUND.format(
            passages=words.count(words.PASSAGES, len(sources)),
            documents=words.count(words.DOCUMENTS, documents),
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
    titles = {source.document_id: source.name for source in sources}
    return list(titles.values())


REDRAW_S = 0.05
SHOW_STORED = "show-stored"
"""The key of an invisible button that a script clicks after a stop, to rerun the page."""


class LiveAnswer:
    """The answer while it is being written, redrawn at most every `REDRAW_S` seconds."""

    def __init__(self, services: "Services") -> None:
        """Draw the beginning of a search at the current position of the page."""
        self._services = services
        self._steps = _LiveSteps(st.container(key="live-steps"))
        self._activity = st.empty()
        with st.container(key="turn-live"):  # styled like a finished turn
            with st.container(key="main-live"):
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

    def wait(self) -> None:
        """Redraw periodically, because a script can only be stopped while it draws."""
        if time.monotonic() - self._drawn_at_s > REDRAW_S:
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

    def write(self, text: str) -> None:
        """Draw more of the answer."""
        if not self._text:
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


class _LiveSteps:
    """The steps so far, each in its own element, so that expanded ones stay expanded."""

    def __init__(self, container: DeltaGenerator) -> None:
        self._container = container
        self._steps: dict[int, Step] = {}
        self._elements: dict[int, DeltaGenerator] = {}
        self._html: dict[int, str] = {}

    @property
    def are_running(self) -> bool:
        return any(step.state is StepState.RUNNING for step in self._steps.values())

    def take(self, step: Step) -> None:
        self._steps[step.n] = step
        if step.n not in self._elements:
            self._elements[step.n] = self._container.empty()

    def draw(self, sources: tuple[RetrievedPassage, ...]) -> None:
        """Redraw the steps that have changed."""
        for n, step in self._steps.items():
            html = steps_html([step], sources, live=True)
            if self._html.get(n) != html:
                self._html[n] = html
                self._elements[n].html(html)
