"""The document page: a document at a passage, with the quotes of an answer highlighted."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from bootstrap import Services
from domain import Principal, is_on_web
from domain.errors import UnreadableError
from services.library.original_service import MAX_BYTES, OriginalService
from services.library.reader_service import Cited, DocumentReader, DocumentView, Freshness, Span
from ui.documents.document_text import (
    AT,
    current_position,
    find_matches,
    show_finder,
    show_text,
)
from ui.documents.highlight import original_html
from ui.shared.frame import name_tab, principal, show_problem
from ui.shared.safe_html import escape, lang, literal, spans_html
from ui.text import words


def age_html(cited_version: str, stored: Freshness | None) -> str:
    """The days since the stored version was imported, and its number, flagged if another was cited.

    `stored` is None if the document was removed.
    """
    if stored is None:
        return _flag(words.GONE, words.REMOVED_NOTE)
    days = (datetime.now(UTC) - stored.imported_at).days
    if days < 1:
        text = words.AGE_TODAY.format(version=stored.revision)
    else:
        text = words.count(words.AGE, days, version=stored.revision)
    age = f"<span>{escape(text)}</span>"
    if cited_version and cited_version != stored.version:
        return age + _flag(words.CHANGED_SINCE, words.CHANGED_SINCE_NOTE)
    return age


def _flag(text: str, note: str) -> str:
    return f'<span class="fn-badge fn-old" title="{escape(note)}">{escape(text)}</span>'


CITED_BY = ("conversation", "turn", "n")
PICTURES = 32


def show_requested_document(services: Services) -> None:
    """Show the document in the page's address, or a message if the address is broken.

    Raises:
        AppError: The document, or the answer that cites it, does not exist.
    """
    matches = find_matches(services.reader, st.query_params.get("id", ""))
    view = _requested_document(services.reader, current_position(matches))
    name_tab(words.DOCUMENT_PAGE if view is None else view.title)
    if view is not None:
        _show_document(services, view, matches)


def _requested_document(reader: DocumentReader, match: int | None) -> DocumentView | None:
    """The document in the address, at a match of the search; None, after a message, if broken."""
    parameters = st.query_params
    numbers = [parameters.get(name, "0") for name in ("start", "end", "n", AT)]
    if not parameters.get("id") or not all(map(_is_number, numbers)):
        show_problem(words.BROKEN_LINK, severe=False)
        return None
    start, end, n, at = map(int, numbers)
    cited = Cited(parameters["conversation"], parameters["turn"], n) if _is_cited() else None
    position = at if match is None and AT in parameters else match
    return reader.view(principal(), parameters["id"], start, end, cited=cited, at=position)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _is_cited() -> bool:
    return all(st.query_params.get(name) for name in CITED_BY)


def _show_document(services: Services, view: DocumentView, matches: Sequence[Span]) -> None:
    """Show the document at the passage and, for a PDF, a picture of the original page."""
    st.html(_head(view))
    _show_saved_notice(view)
    if view.has_file:
        _show_original(services.originals, view)
    if view.content == "stored":
        show_finder(view, matches)
    else:
        matches = ()
    if not view.has_pictures:
        show_text(view, matches)
        return
    text, picture = st.columns([1.15, 1], gap="medium")
    with text:
        show_text(view, matches)
    with picture, st.container(key="document-picture"):
        _show_picture(services.originals, view)


def _show_original(originals: OriginalService, view: DocumentView) -> None:
    """Show a button that downloads the original file, or why there is none."""
    try:
        original = originals.find(principal(), view.document_id, max_bytes=MAX_BYTES)
    except UnreadableError as error:
        st.caption(literal(words.translated(str(error))))
        return
    with st.container(horizontal=True, vertical_alignment="center", key="document-original"):
        st.download_button(
            words.DOWNLOAD_ORIGINAL,
            data=partial(originals.read, principal(), view.document_id),
            file_name=original.name,
            mime="application/octet-stream",  # never rendered by the browser
            on_click="ignore",
            icon=":material/download:",
        )
        if not original.is_current:
            st.caption(words.ORIGINAL_CHANGED)


def _head(view: DocumentView) -> str:
    question = words.CITED_FOR.format(question=view.question) if view.question else ""
    cited = f'<p class="fn-activity"{lang(question)}>{escape(question)}</p>' if question else ""
    page = words.PAGE.format(page=view.page) if view.page else ""
    where = spans_html((" › ".join(view.heading_path), page))
    age = age_html("", view.stored)
    return (
        f'<div class="fn-document-head"><h1{lang(view.title)}>{escape(view.title)}</h1>{cited}'
        f'<div class="fn-where">{where}</div><div class="fn-where fn-age">{age}</div>'
        f'<div class="fn-where">{_original(view.location)}{_passages_link(view)}</div></div>'
    )


def _original(location: str) -> str:
    original = original_html(location)
    if not is_on_web(location):
        original = words.ORIGINAL_FILE.format(path=original)
    return f"<span>{original}</span>"


def _passages_link(view: DocumentView) -> str:
    if view.content != "stored":
        return ""
    address = f"library?{urlencode({'id': view.document_id})}"
    label = escape(words.DOCUMENT_PASSAGES)
    return f'<span><a href="{escape(address)}" target="_self">{label}</a></span>'


def _show_saved_notice(view: DocumentView) -> None:
    """Show a notice, with a link to the stored version, if this is not the stored text."""
    notice = {"changed": words.DOCUMENT_CHANGED, "gone": words.DOCUMENT_REMOVED}.get(view.content)
    if notice is None:
        return
    show_problem(notice, severe=False)
    if view.stored:
        label = words.SHOW_NOW if view.now else words.SHOW_TODAY
        st.button(label, icon=":material/update:", on_click=_open_stored, args=(view,))


def _open_stored(view: DocumentView) -> None:
    for name in (*CITED_BY, AT):
        st.query_params.pop(name, None)
    start, end = view.now or (0, 0)
    st.query_params.update({"start": str(start), "end": str(end)})


PAGE_SHOWN = "document_pdf_page"


def _show_picture(originals: OriginalService, view: DocumentView) -> None:
    """Show the page with the quote, and buttons for the other pages."""
    first = view.page or 1
    key = f"{PAGE_SHOWN}-{view.document_id}-{view.focus.start}-{view.at}"
    page = min(max(int(st.session_state.get(key, first)), 1), max(view.pages, first))
    version = view.stored.version if view.stored else ""
    try:
        reader = principal()
        readers = tuple(sorted(reader.readers))
        quotes = tuple(view.quotes)
        picture = _picture(originals, reader, readers, view.document_id, version, page, quotes)
    except UnreadableError as error:
        show_problem(str(error), severe=False)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="document-pages"):
        _page_button(words.PREVIOUS_PAGE, ":material/chevron_left:", key, page - 1, page > 1)
        _page_button(words.NEXT_PAGE, ":material/chevron_right:", key, page + 1, page < view.pages)
    caption = words.ORIGINAL_PAGE.format(page=page)
    st.image(picture, caption=caption, width="stretch", alt=f"{caption}: {view.title}")


def _page_button(label: str, icon: str, key: str, page: int, is_there: bool) -> None:
    st.button(label, icon=icon, disabled=not is_there, on_click=_show_page, args=(key, page))


def _show_page(key: str, page: int) -> None:
    st.session_state[key] = page


@st.cache_resource(max_entries=PICTURES, show_spinner=False)
def _picture(
    _originals: OriginalService,
    _principal: Principal,
    readers: tuple[str, ...],  # noqa: ARG001  # part of the cache key
    document_id: str,
    version: str,  # noqa: ARG001  # part of the cache key
    page: int,
    quotes: tuple[str, ...],
) -> bytes:
    return _originals.page_image(_principal, document_id, page, quotes)
