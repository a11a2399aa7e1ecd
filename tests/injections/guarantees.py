"""What holds for an answer, whatever the model wrote, in every interface."""

import re
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from urllib.parse import urlsplit

from domain import LOCAL_USER, CitationState, Turn
from services.export.answer_text import marker_spans
from services.export.transcripts import TranscriptFormat
from tests.chains.test_live_markup import live_tokens
from tests.injections.cases import Injection
from ui.chat.citation_view import citation_marker, verdict_html
from ui.shared.safe_html import answer_html

ADDRESSES = {"href", "src", "srcset", "action", "formaction", "poster", "data", "background"}
ACTIVE = {"script", "iframe", "object", "embed", "form", "svg", "base", "link", "img", "input"}
OUR_LINK = re.compile(r"^(#|document\?)")


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attributes}))


def elements_of(html: str) -> list[tuple[str, dict[str, str]]]:
    """The names and attributes of all elements."""
    parser = _Elements()
    parser.feed(html)
    parser.close()
    return parser.found


def require_inert_html(html: str) -> None:
    """No element runs a script, loads anything, or leads to another site."""
    for tag, attributes in elements_of(html):
        assert tag not in ACTIVE, (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        for name in ADDRESSES & attributes.keys():
            address = attributes[name]
            assert not urlsplit(address).netloc, (tag, address)
            assert OUR_LINK.match(address.lstrip("/")), (tag, address)


def require_inert_answer(turn: Turn) -> None:
    """The answer is not live in Markdown or on the page, and its markers are its citations."""
    assert live_tokens(turn.answer) == set(), turn.answer
    require_inert_html(answer_html(turn.answer, citation_marker(turn)))
    require_inert_html(verdict_html(turn))
    assert {n for n, *_ in marker_spans(turn.answer)} == {one.n for one in turn.citations}


def require_true_evidence(services, turn: Turn) -> None:
    """Only words of the documents are shown as found in them."""
    for one in turn.citations:
        if one.state is CitationState.VERIFIED:
            text = services.reader.text(LOCAL_USER, one.document_id)
            assert text[one.start : one.end] == one.quote
            assert one.quote.strip()


def require_doubt(case: Injection, turn: Turn) -> None:
    """An answer with unproven words says that something in it is not supported."""
    if case.unproven and case.is_obeyed_in(turn.answer):
        is_refuted = any(one.state is not CitationState.VERIFIED for one in turn.citations)
        assert is_refuted or turn.unsupported_sentences, turn.answer


def require_inert_exports(services, turn: Turn) -> None:
    """No export loads anything or leads to another site."""
    export = services.conversations.export
    html = export(LOCAL_USER, turn.conversation_id, TranscriptFormat.HTML).decode()
    require_inert_html(html)
    markdown = export(LOCAL_USER, turn.conversation_id, TranscriptFormat.MARKDOWN).decode()
    assert live_tokens(markdown) == set(), markdown


def require_no_secret(texts: Iterable[str], secrets: Sequence[str]) -> None:
    """None of the secrets is in the texts."""
    together = "\n".join(texts)
    assert not [secret for secret in secrets if secret in together]
