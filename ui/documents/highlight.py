"""Links to documents, and HTML of passages in which text far from the quotes is collapsed."""

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from domain import Citation, CitationState, RetrievedPassage, Turn, is_on_web
from services.library.document_style import Style
from ui.documents.rendering import Highlight, Kind, Span, document_html, table_head
from ui.shared.safe_html import escape
from ui.text import words

PAGE = "document"


def document_address(document_id: str, start: int = 0, end: int = 0) -> str:
    """The address of a document, at a span of its text if there is one, relative to any page."""
    span = {"start": start, "end": end} if end else {}
    return f"{PAGE}?{urlencode({'id': document_id, **span})}"


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
    if is_on_web(location):
        return link_html(location, short, label=words.OPEN_ORIGINAL)
    return short


def _short(location: str) -> str:
    """The name of an uploaded file, or the path, relative if it is in the working directory."""
    path = Path(location)
    if path.parts[-3:-2] == ("uploads",):
        return path.name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else location


NEAR = 90  # characters shown before and after a quote
REACH = 30  # how far to look for white space to cut at
FOLDED_FROM = 60  # shorter parts are not collapsed
WHITE_SPACE = re.compile(r"\s+")
WHOLE_LINE = re.compile(r"[ \t]*(?:[|#>]|[-*+] |\d+[.)] )")


def excerpt_html(passage: str, spans: Sequence[Span], style: Style = Style.MARKDOWN) -> str:
    """The passage as HTML, with the spans in `<mark>` and what is far from them in `fn-far`.

    The style sheet collapses the far parts until the reader expands the passage: words in
    `fn-far`, and blocks with `data-far`. Without spans, the beginning stays visible.
    """
    near = _merge([_window(passage, span) for span in spans or [(0, 0)]], gap=FOLDED_FROM)
    bounds = [0, *(end for span in near for end in span), len(passage)]
    far = [Highlight(*gap, Kind.FAR) for gap in zip(bounds[::2], bounds[1::2], strict=True)]
    return passage_html(passage, [*far, *(Highlight(*span) for span in spans)], style)


def passage_html(passage: str, highlights: Sequence[Highlight], style: Style) -> str:
    """A part of a document as HTML, with the spans highlighted and without real headings."""
    head = table_head(passage) if style is not Style.PLAIN else ""
    moved = [Highlight(one.start + len(head), one.end + len(head), one.kind) for one in highlights]
    return document_html(head + passage, moved, style=style, first_heading=0)


def _window(passage: str, span: Span) -> Span:
    """The span with its context, cut at white space, or around whole rows, items, and headings."""
    start, stop = max(0, span[0] - NEAR), min(len(passage), span[1] + NEAR)
    if start <= FOLDED_FROM:
        start = 0
    elif gap := WHITE_SPACE.search(passage, start, min(start + REACH, span[0])):
        start = gap.end()
    if stop >= len(passage) - FOLDED_FROM:
        return _line_start(passage, start), len(passage)
    gaps = list(WHITE_SPACE.finditer(passage, max(stop - REACH, span[1]), stop))
    return _line_start(passage, start), _line_end(passage, gaps[-1].start() if gaps else stop)


def _line_start(passage: str, at: int) -> int:
    line = passage.rfind("\n", 0, at) + 1
    return line if WHOLE_LINE.match(passage, line) else at


def _line_end(passage: str, at: int) -> int:
    line = passage.rfind("\n", 0, at) + 1
    end = passage.find("\n", at)
    return (end if end >= 0 else len(passage)) if WHOLE_LINE.match(passage, line) else at


def mark_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>`; spans may overlap and be in any order."""
    pieces, end = [], 0
    for start, stop in _merge(spans):
        pieces += [escape(passage[end:start]), f"<mark>{escape(passage[start:stop])}</mark>"]
        end = stop
    return "".join([*pieces, escape(passage[end:])])


def _merge(spans: Sequence[Span], *, gap: int = 0) -> list[Span]:
    """The spans in order; those that overlap or are less than `gap` apart are merged."""
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged
