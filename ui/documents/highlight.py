"""HTML of passages with highlighted quotes; text far from the quotes is collapsed."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from domain import Citation, CitationState, RetrievedPassage, Turn
from ui.shared.safe_html import escape
from ui.text import words

PAGE = "document"
WEB = ("http://", "https://")


def document_address(document_id: str, start: int = 0, end: int = 0) -> str:
    """The address of a document at a span of its text, relative to any page."""
    return f"{PAGE}?{urlencode({'id': document_id, 'start': start, 'end': end})}"


def source_address(turn: Turn, source: RetrievedPassage, citation: Citation | None = None) -> str:
    """The address of a cited source: at the quote if it was verified, otherwise at the passage."""
    start, end = source.start, source.start + len(source.text)
    if citation is not None and citation.state is CitationState.VERIFIED and citation.start >= 0:
        start, end = citation.start, citation.end
    of = {"conversation": turn.conversation_id, "turn": turn.id, "n": source.n}
    return f"{document_address(source.document_id, start, end)}&{urlencode(of)}"


def link_html(address: str, text_html: str, *, kind: str = "", label: str = "") -> str:
    """A link that opens in a new tab, so that the conversation stays open.

    `text_html` is already escaped; `label` is the tooltip and the text for screen readers.
    """
    named = f' title="{escape(label)}" aria-label="{escape(label)}"' if label else ""
    css = f' class="{escape(kind)}"' if kind else ""
    return f'<a{css} href="{escape(address)}" target="_blank" rel="noopener"{named}>{text_html}</a>'


def original_html(location: str) -> str:
    """The location of the original: a link to a web page, but plain text for a file.

    Browsers do not open local files from a web page.
    """
    short = escape(_short(location))
    if location.startswith(WEB):
        return link_html(location, short, label=words.OPEN_ORIGINAL)
    return short


def _short(location: str) -> str:
    """The name of an uploaded file, or the path, relative if it is in the working directory."""
    path = Path(location)
    if path.parts[-3:-2] == ("uploads",):
        return path.name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else location


Span = tuple[int, int]
NEAR = 90  # characters shown before and after a quote
REACH = 30  # how far to look for white space to cut at
FOLDED_FROM = 60  # shorter parts are not collapsed
CODE = re.compile(r"^(?:```|~~~| {4}|\t)", re.MULTILINE)
WRAPPED = re.compile(r"(?<=[^\n|#]{30})\n(?=[^\W\d_]|[\"'“‘「『（(])")
SYNTAX = re.compile(r"^(?:#{1,6} |\|(?: *:?-+:? *\|)+$)", re.MULTILINE)
WHITE_SPACE = re.compile(r"\s+")


def excerpt_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>` and text far from them in `fn-far`.

    The style sheet collapses the far parts until the reader expands the passage, and dims
    Markdown syntax. Spans may overlap and be in any order; without spans, the beginning of the
    passage stays visible.
    """
    near = [_window(passage, span) for span in spans or [(0, 0)]]
    text = _unwrapped(passage)
    pieces, end = [], 0
    for start, stop in _merged(near, gap=FOLDED_FROM):
        pieces += [_far_html(text[end:start]), _near_html(text, (start, stop), spans)]
        end = stop
    html = "".join([*pieces, _far_html(text[end:])])
    return _faint_syntax(html)


def _faint_syntax(html: str) -> str:
    return SYNTAX.sub(r'<span class="fn-syntax">\g<0></span>', html)


def reading_html(text: str, focus: Span, spans: Sequence[Span]) -> str:
    """The text, escaped, with the passage in focus and its context dimmed.

    The spans are in `<mark>`; they may overlap, be in any order, and extend beyond the passage.
    """
    text = _unwrapped(text)
    begin, end = focus
    before, inside, after = (
        _faint_syntax(marked_html(text[start:stop], _clipped(spans, start, stop)))
        for start, stop in ((0, begin), (begin, end), (end, len(text)))
    )
    return f'{_around(before)}<span class="fn-focus">{inside}</span>{_around(after)}'


def _around(html: str) -> str:
    return f'<span class="fn-around">{html}</span>' if html else ""


def _clipped(spans: Sequence[Span], start: int, stop: int) -> list[Span]:
    return [
        (max(begin, start) - start, min(end, stop) - start)
        for begin, end in spans
        if begin < stop and end > start
    ]


def _unwrapped(passage: str) -> str:
    """The passage with the line breaks of wrapped prose replaced by spaces; offsets stay the same.

    Line breaks after short lines and next to tables, lists, headings, and code are kept.
    """
    return passage if CODE.search(passage) else WRAPPED.sub(" ", passage)


def _window(passage: str, span: Span) -> Span:
    """The span with its context, cut at nearby white space if there is any."""
    start, stop = max(0, span[0] - NEAR), min(len(passage), span[1] + NEAR)
    if start <= FOLDED_FROM:
        start = 0
    elif gap := WHITE_SPACE.search(passage, start, min(start + REACH, span[0])):
        start = gap.end()
    if stop >= len(passage) - FOLDED_FROM:
        return start, len(passage)
    gaps = list(WHITE_SPACE.finditer(passage, max(stop - REACH, span[1]), stop))
    return start, gaps[-1].start() if gaps else stop


def _far_html(text: str) -> str:
    return f'<span class="fn-far"><span>{escape(text)}</span></span>' if text else ""


def _near_html(passage: str, window: Span, spans: Sequence[Span]) -> str:
    begin, end = window
    inside = [(start - begin, stop - begin) for start, stop in spans if begin <= start < end]
    return marked_html(passage[begin:end], inside)


def marked_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>`; spans may overlap and be in any order."""
    pieces, end = [], 0
    for start, stop in _merged(spans):
        pieces += [escape(passage[end:start]), f"<mark>{escape(passage[start:stop])}</mark>"]
        end = stop
    return "".join([*pieces, escape(passage[end:])])


def _merged(spans: Sequence[Span], *, gap: int = 0) -> list[Span]:
    """The spans in order; those that overlap or are less than `gap` apart are merged."""
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged
