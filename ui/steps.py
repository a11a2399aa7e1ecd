"""The steps of an agent as HTML: the tool in words, what it was asked, what came back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain import SearchMode, Source, Step, StepState
from ui import words
from ui.html import cut_html, escape, lang, strong_html
from ui.service_text import said

RESULT_CHARACTERS = 1200  # more of what a tool gave is not repeated
DOCUMENTS = 3  # that are named for a step
FOR_THE_MODEL = "Failed: "  # begins what a failed tool tells; the page says so by a sign
MAIN_ARGUMENTS = ("query", "question", "document_id")
A_SECOND_MS = 1000
SHORTEST_MS = 50  # what takes less would be shown as 0.0 s


def steps_html(steps: Iterable[Step], sources: Sequence[Source], *, live: bool = False) -> str:
    """The steps in their order; `sources` are the turn's so far.

    A step that runs moves where it is `live`; elsewhere it was broken off.
    """
    html = "".join(_step(step, sources, live=live) for step in steps)
    role = ' role="status"' if live else ""
    return f'<div class="fn-agent"{role}>{html}</div>'


def _step(step: Step, sources: Sequence[Source], *, live: bool) -> str:
    runs = step.state is StepState.RUNNING
    kind = "now" if runs and live else "broken" if runs else step.state
    spoken = f'<p class="fn-said"{lang(step.said)}>{cut_html(step.said)}</p>' if step.said else ""
    back = _came_back(step, sources, live=live)
    tool = step.tool if step.tool in words.STEPS_ENDED else "other"
    return (
        f'{spoken}<div class="fn-step fn-{kind}"><span class="fn-tool fn-{tool}"></span>'
        f"<div><p>{_asked(step, sources)}{_seconds(step)}</p>{back}</div></div>"
    )


def _asked(step: Step, sources: Sequence[Source]) -> str:
    """The tool in words with what it was asked; a tool of others by its own name."""
    given = {name: value for name, value in step.arguments.items() if value not in (None, "", [])}
    main = next((name for name in MAIN_ARGUMENTS if name in given), "")
    forms = words.STEPS_AT_WORK if step.state is StepState.RUNNING else words.STEPS_ENDED
    form = forms.get(step.tool, "")
    if not form or ("{what}" in form and not main):
        return f"<strong>{cut_html(step.tool)}</strong>{_arguments(step.tool, given)}"
    what = _title(given[main], sources) if main == "document_id" else _plain(given.get(main, ""))
    told = escape(form).format(what=strong_html(what))
    more = {name: value for name, value in given.items() if name != main}
    return told + _arguments(step.tool, more)


def _title(document_id: Any, sources: Sequence[Source]) -> str:
    """What the document is called, where a source is of it."""
    titles = (one.name for one in sources if one.document_id == document_id)
    return next(titles, _plain(document_id))


def _arguments(tool: str, given: Mapping[str, Any]) -> str:
    told = (_argument(tool, name, value) for name, value in given.items())
    return "".join(f' <span class="fn-argument"{lang(one)}>{cut_html(one)}</span>' for one in told)


def _argument(tool: str, name: str, value: Any) -> str:
    """In words, where the tool is one of ours."""
    if tool in words.STEPS_ENDED and name == "mode" and value in list(SearchMode):
        return str(words.MODES[value])
    forms = words.STEP_ARGUMENTS if tool in words.STEPS_ENDED else {}
    form: str = forms.get(name, words.STEP_ARGUMENT)
    return form.format(name=name, value=_plain(value))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def seconds_html(milliseconds: float) -> str:
    """How long something took, in seconds with one decimal."""
    return escape(words.SECONDS.format(seconds=f"{milliseconds / A_SECOND_MS:.1f}"))


def _seconds(step: Step) -> str:
    if step.milliseconds < SHORTEST_MS:
        return ""
    return f' <span class="fn-took">{seconds_html(step.milliseconds)}</span>'


def _came_back(step: Step, sources: Sequence[Source], *, live: bool) -> str:
    match step.state:
        case StepState.RUNNING:
            return "" if live else f'<p class="fn-trouble">{escape(words.STEP_BROKEN_OFF)}</p>'
        case StepState.FAILED:
            error = said(step.result.strip().removeprefix(FOR_THE_MODEL))
            return f'<p class="fn-trouble"{lang(error)}>{cut_html(error)}</p>'
    return _result(_passages(step, sources), step.result.strip())


def _passages(step: Step, sources: Sequence[Source]) -> str:
    """How many passages with the numbers and the titles of their documents."""
    known = {source.n: source for source in sources}
    found = [known[n] for n in step.sources if n in known]
    if not step.sources:
        is_search = step.tool == "search_documents"
        return f"<span>{escape(words.NOTHING_FOUND)}</span>" if is_search else ""
    titles = dict.fromkeys(source.name for source in found)
    named = [_document(title, found) for title in list(titles)[:DOCUMENTS]]
    more = len(titles) - DOCUMENTS
    if more > 0:
        named.append(f"<span>{escape(words.count(words.STEP_MORE_DOCUMENTS, more))}</span>")
    count = f"<span>{escape(words.count(words.PASSAGES, len(step.sources)))}</span>"
    return count + "".join(named)


def _document(title: str, found: Sequence[Source]) -> str:
    ns = (one.n for one in found if one.name == title)
    chips = "".join(f'<span class="fn-cite">{n}</span>' for n in ns)
    return f"<span{lang(title)}>{chips} {cut_html(title)}</span>"


def _result(line: str, text: str) -> str:
    """The line, which unfolds the beginning of what the tool gave."""
    if not text:
        return f'<p class="fn-back">{line}</p>' if line else ""
    summary = f'<span class="fn-back">{line or escape(words.STEP_RESULT)}</span>'
    shown = f"<div{lang(text)}>{cut_html(text, RESULT_CHARACTERS)}</div>"
    return f'<details class="fn-result"><summary>{summary}</summary>{shown}</details>'
