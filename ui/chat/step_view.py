"""The steps of an agent, described in words."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from domain import RetrievedPassage, SearchMode, Step, StepState
from ui.shared.safe_html import cut_html, escape, lang, strong_html
from ui.text import words

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


class LiveSteps:
    """The steps so far, each in its own element, so that expanded ones stay expanded."""

    def __init__(self, container: DeltaGenerator) -> None:
        """Draw the steps in this container."""
        self._container = container
        self._steps: dict[int, Step] = {}
        self._elements: dict[int, DeltaGenerator] = {}
        self._html: dict[int, str] = {}

    @property
    def are_running(self) -> bool:
        """Whether a step has not ended yet."""
        return any(step.state is StepState.RUNNING for step in self._steps.values())

    def take(self, step: Step) -> None:
        """Add or update a step."""
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
