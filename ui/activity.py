"""What was done for an answer: step by step while it is done, in one line afterwards."""

from collections.abc import Sequence

from domain import Source, Turn
from ui import words
from ui.html import escape, lang
from ui.service_text import said

TITLES = 3  # of documents that are named while they are read
QUESTION_CHARACTERS = 300  # more of what was searched for is not repeated


def working_html(
    question: str = "", sources: Sequence[Source] | None = None, *, answering: bool = False
) -> str:
    """What is being done: searching, reading what was found, answering."""
    steps = [_searching(question)]
    if sources is not None:
        steps.append(_reading(sources) if sources else escape(words.NOTHING_FOUND))
    if answering:
        steps.append(escape(words.ANSWERING))
    *done, now = (f"<span>{step}</span>" for step in steps)
    html = "".join([*done, now.replace("<span>", '<span class="fn-now">', 1)])
    return f'<p class="fn-activity fn-steps" role="status">{html}</p>'


def activity_html(turn: Turn) -> str:
    """What was done, in a line that unfolds the documents that were read."""
    if not turn.standalone_question:
        return ""
    parts = [_searched(turn), _found(turn.sources), _seconds(turn)]
    line = " · ".join(part for part in parts if part)
    read = "".join(f"<li>{escape(title)}</li>" for title in _titles(turn.sources))
    if not read:
        return f'<p class="fn-activity">{line}</p>'
    unfolded = f"<details><summary>{line}</summary><ul>{read}</ul></details>"
    return f'<div class="fn-activity">{unfolded}{_not_reranked(turn.sources)}</div>'


def _searching(question: str) -> str:
    if not question:
        return escape(words.SEARCHING)
    return escape(words.SEARCHING_FOR).format(question=_strong(question))


def _searched(turn: Turn) -> str:
    template = words.SEARCHED_FOR_GIVEN if turn.standalone_given else words.SEARCHED_FOR
    return escape(template).format(question=_strong(turn.standalone_question))


def _strong(question: str) -> str:
    cut = question[:QUESTION_CHARACTERS] + ("…" if len(question) > QUESTION_CHARACTERS else "")
    return f"<strong{lang(question)}>{escape(cut)}</strong>"


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
    return "" if total is None else escape(words.SECONDS.format(seconds=f"{total / 1000:.1f}"))


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
    titles = {source.document_id: source.title or source.location for source in sources}
    return list(titles.values())
