"""What was done for an answer: step by step while it is done, in one line afterwards."""

from collections.abc import Sequence

from domain import Source, StepState, Turn
from ui import words
from ui.html import escape, strong_html
from ui.service_text import said
from ui.steps import seconds_html, steps_html

TITLES = 3  # of documents that are named while they are read


def working_html(
    question: str = "", sources: Sequence[Source] | None = None, *, answering: bool = False
) -> str:
    """What is being done: searching, reading what was found, answering."""
    steps = [_searching(question)]
    if sources is not None:
        steps.append(_reading(sources) if sources else escape(words.NOTHING_FOUND))
    if answering:
        steps.append(escape(words.ANSWERING))
    return _at_work(*steps)


def activity_html(turn: Turn) -> str:
    """What was done, in a line that unfolds the documents that were read, or the agent's steps."""
    if turn.steps or turn.search.by_agent:
        return _agent(turn)
    if not turn.standalone_question:
        return ""
    parts = [_searched(turn), _found(turn.sources), _seconds(turn)]
    line = " · ".join(part for part in parts if part)
    read = "".join(f"<li>{escape(title)}</li>" for title in _titles(turn.sources))
    if not read:
        return f'<p class="fn-activity">{line}</p>'
    unfolded = f"<details><summary>{line}</summary><ul>{read}</ul></details>"
    return f'<div class="fn-activity">{unfolded}{_not_reranked(turn.sources)}</div>'


def doing_html(text: str) -> str:
    """What an agent is at between its steps, and after them."""
    return _at_work(escape(text))


def _at_work(*steps: str) -> str:
    """What was done, and last what is done now, as HTML."""
    *done, now = steps
    html = "".join(f"<span>{step}</span>" for step in done) + f'<span class="fn-now">{now}</span>'
    return f'<p class="fn-activity fn-steps" role="status">{html}</p>'


def _agent(turn: Turn) -> str:
    found = _found(turn.sources) if turn.sources else ""
    line = " · ".join(part for part in (*_counted(turn), found, _seconds(turn)) if part)
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
    template = words.SEARCHED_FOR_GIVEN if turn.standalone_given else words.SEARCHED_FOR
    return escape(template).format(question=strong_html(turn.standalone_question))


def _reading(sources: Sequence[Source]) -> str:
    titles = _titles(sources)
    named = ", ".join(titles[:TITLES])
    more = len(titles) - TITLES
    if more <= 0:
        return escape(words.READING.format(titles=named))
    return escape(words.count(words.READING_MORE, more, titles=named))


def _found(sources: Sequence[Source]) -> str:
    if not sources:
        return escape(words.NOTHING_FOUND)
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


def _not_reranked(sources: Sequence[Source]) -> str:
    """Why the order is the one without the reranker, where it left all passages alone."""
    moves = [source.why.move for source in sources if source.why and source.why.move]
    reasons = {move.skipped for move in moves}
    if not moves or "" in reasons:
        return ""
    return "".join(
        f'<p class="fn-skipped">{escape(words.NOT_RERANKED.format(reason=said(reason)))}</p>'
        for reason in sorted(reasons)
    )


def _titles(sources: Sequence[Source]) -> list[str]:
    titles = {source.document_id: source.name for source in sources}
    return list(titles.values())
