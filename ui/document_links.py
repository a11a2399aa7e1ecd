"""Addresses of the document page: a document, opened at a passage, for an answer."""

from urllib.parse import urlencode

from domain import Citation, CitationState, Source, Turn
from ui.html import escape

PAGE = "document"


def document_address(document_id: str, start: int = 0, end: int = 0) -> str:
    """The address of a document at a span of its text, relative to any page."""
    return f"{PAGE}?{urlencode({'id': document_id, 'start': start, 'end': end})}"


def source_address(turn: Turn, source: Source, citation: Citation | None = None) -> str:
    """The address of what an answer cites: at the quote where it was found, else the passage."""
    start, end = source.start, source.start + len(source.text)
    if citation is not None and citation.state is CitationState.VERIFIED and citation.start >= 0:
        start, end = citation.start, citation.end
    of = {"conversation": turn.conversation_id, "turn": turn.id, "n": source.n}
    return f"{document_address(source.document_id, start, end)}&{urlencode(of)}"


def link_html(address: str, text_html: str, *, kind: str = "", label: str = "") -> str:
    """A link that opens in a tab of its own, so that the conversation stays where it is.

    `text_html` is escaped already; `label` is told by screen readers and on hovering.
    """
    named = f' title="{escape(label)}" aria-label="{escape(label)}"' if label else ""
    css = f' class="{escape(kind)}"' if kind else ""
    return f'<a{css} href="{escape(address)}" target="_blank" rel="noopener"{named}>{text_html}</a>'
