"""The document page: a passage in its context, with the quotes of an answer highlighted."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from bootstrap import Services
from domain import ListedDocument, SharedPassage
from errors import UnreadableError
from ui.documents.highlight import WEB, marked_html, original_html, reading_html
from ui.library.library_page import open_document, source_names
from ui.shared.frame import errors_shown, offset_of, principal, show_pages, show_problem
from ui.shared.safe_html import escape, lang, scroll_to
from ui.text import words
from ui.text.reader_language import day_and_time, number

if TYPE_CHECKING:
    from services.library.reader_service import DocumentReader, DocumentView, Freshness, Span


ROWS = 20
PAGE = "passages_page"


def show_document_passages(services: Services, document_id: str) -> None:
    """Show a document's properties and its passages, page by page, or an error if it is gone."""
    back, icon = words.BACK_TO_LIBRARY, ":material/arrow_back:"
    st.button(back, icon=icon, on_click=open_document, args=("",))
    with errors_shown():
        _show(services, services.documents.get(principal(), document_id))


def _show(services: Services, document: ListedDocument) -> None:
    st.html(facts_html(document, source_names(services).get(document.source_id, "")))
    for warning in document.warnings:
        show_problem(warning, severe=False)
    key = f"{PAGE}_{document.id}"
    offset = offset_of(key, ROWS)
    listed = services.documents.passages(principal(), document.id, limit=ROWS, offset=offset)
    if not listed:
        st.caption(words.NO_PASSAGES)
        return
    st.caption(words.OVERLAP_NOTE)
    st.html("".join(passage_html(one, document.passages) for one in listed))
    show_pages(document.passages, ROWS, key)


def facts_html(document: ListedDocument, source: str) -> str:
    """The document's title and its known properties."""
    density, details = document.characters_per_page, document.details
    is_elsewhere = document.location.startswith(WEB)
    facts = {
        words.COLUMN_SOURCE: source,
        words.COLUMN_KEY: "" if is_elsewhere else document.key,
        words.COLUMN_SPACE: details.get("space_name", ""),
        words.COLUMN_AUTHOR: details.get("author", ""),
        words.COLUMN_LABELS: ", ".join(details.get("labels", ())),
        words.COLUMN_FORMAT: document.format,
        words.COLUMN_PAGES: number(document.pages) if document.pages else "",
        words.COLUMN_CHARACTERS: number(document.characters),
        words.COLUMN_DENSITY: "" if density is None else number(density),
        words.COLUMN_ENCODING: document.encoding or "",
        words.COLUMN_LANGUAGE: words.SCRIPT_NAMES.get(document.script, document.script),
        words.COLUMN_PASSAGES: number(document.passages),
        words.COLUMN_LONGEST: number(document.longest_passage),
        words.COLUMN_VERSION: number(document.revision),
        words.COLUMN_IMPORTED: day_and_time(document.imported_at),
    }
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
        if value
    )
    address = _address(document.id, 0, 0)
    return (
        f'<article class="fn-facts"><h3{lang(document.title)}>{escape(document.title)}</h3>'
        f"<dl>{items}</dl>{original_html(document.location) if is_elsewhere else ''} "
        f'<a href="{escape(address)}" target="_self">{escape(words.OPEN_DOCUMENT)}</a></article>'
    )


def passage_html(listed: SharedPassage, total: int) -> str:
    """A passage with its location; text that it shares with its neighbors is highlighted."""
    passage = listed.passage
    length, before, after = len(passage.text), listed.shared_before, listed.shared_after
    spans = [span for span in ((0, before), (length - after, length)) if span[0] < span[1]]
    name = words.LIBRARY_PASSAGE_OF.format(n=number(passage.ordinal + 1), total=number(total))
    address = _address(passage.document_id, passage.start, passage.end)
    return (
        f'<article class="fn-chunk"><header><b>{escape(name)}</b>{_place_html(listed)}</header>'
        f'<div class="fn-passage"{lang(passage.text)}>{marked_html(passage.text, spans)}</div>'
        f'<footer><a href="{escape(address)}" target="_self">{escape(words.READ_HERE)}</a></footer>'
        "</article>"
    )


def _place_html(listed: SharedPassage) -> str:
    passage = listed.passage
    parts = [
        " › ".join(passage.heading_path),
        words.PAGE.format(page=passage.page) if passage.page else "",
        words.PASSAGE_FACTS.format(characters=number(len(passage.text))),
        words.count(words.OVERLAP_BEFORE, listed.shared_before) if listed.shared_before else "",
        words.count(words.OVERLAP_AFTER, listed.shared_after) if listed.shared_after else "",
    ]
    spans = "".join(f"<span>{escape(part)}</span>" for part in parts if part)
    return f'<div class="fn-where">{spans}</div>'


def _address(document_id: str, start: int, end: int) -> str:
    span = {"start": start, "end": end} if end else {}
    return "document?" + urlencode({"id": document_id, **span})


def age_html(cited_version: str, stored: "Freshness | None") -> str:
    """The age and number of the stored version, flagged if another version was cited.

    `stored` is None if the document was removed.
    """
    if stored is None:
        return _flag(words.GONE, words.REMOVED_NOTE)
    age = f"<span>{escape(age_text(stored))}</span>"
    if cited_version and cited_version != stored.version:
        return age + _flag(words.CHANGED_SINCE, words.CHANGED_SINCE_NOTE)
    return age


def age_text(stored: "Freshness") -> str:
    """The days since that version was imported, and its number."""
    days = (datetime.now(UTC) - stored.imported_at).days
    if days < 1:
        return words.AGE_TODAY.format(version=stored.revision)
    return words.count(words.AGE, days, version=stored.revision)


def _flag(text: str, note: str) -> str:
    return f'<span class="fn-badge fn-old" title="{escape(note)}">{escape(text)}</span>'


CITED_BY = ("conversation", "turn", "n")
PICTURES = 32


def requested_document(reader: "DocumentReader") -> "DocumentView | None":
    """The document in the page's address; shows a message and returns None for a broken address.

    Raises:
        AppError: The document, or the answer that cites it, does not exist.
    """
    from services.library.reader_service import Cited

    parameters = st.query_params
    numbers = [parameters.get(name, "0") for name in ("start", "end", "n")]
    if not parameters.get("id") or not all(map(_is_number, numbers)):
        show_problem(words.BROKEN_LINK, severe=False)
        return None
    start, end, n = map(int, numbers)
    cited = Cited(parameters["conversation"], parameters["turn"], n) if _is_cited() else None
    return reader.view(principal(), parameters["id"], start, end, cited=cited)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _is_cited() -> bool:
    return all(st.query_params.get(name) for name in CITED_BY)


def show_document(reader: "DocumentReader", view: "DocumentView") -> None:
    """Show the passage in its context and, for a PDF, a picture of the original page."""
    st.html(_head(view))
    _show_saved_notice(view)
    if not view.has_pictures:
        _show_text(view)
        return
    text, picture = st.columns([1.15, 1], gap="medium")
    with text:
        _show_text(view)
    with picture:
        _show_picture(reader, view)


def _head(view: "DocumentView") -> str:
    question = words.CITED_FOR.format(question=view.question) if view.question else ""
    cited = f'<p class="fn-activity"{lang(question)}>{escape(question)}</p>' if question else ""
    page = words.PAGE.format(page=view.page) if view.page else ""
    parts = [escape(part) for part in (" › ".join(view.heading_path), page) if part]
    where = "".join(f"<span>{part}</span>" for part in parts)
    age = age_html("", view.stored)
    return (
        f'<div class="fn-document-head"><h1{lang(view.title)}>{escape(view.title)}</h1>{cited}'
        f'<div class="fn-where">{where}</div><div class="fn-where fn-age">{age}</div>'
        f'<div class="fn-where">{_original(view.location)}</div></div>'
    )


def _original(location: str) -> str:
    if location.startswith(WEB):
        return original_html(location)
    return words.ORIGINAL_FILE.format(path=original_html(location))


def _show_saved_notice(view: "DocumentView") -> None:
    """Show a notice, with a link to the stored version, if this is not the stored text."""
    notice = {"changed": words.DOCUMENT_CHANGED, "gone": words.DOCUMENT_REMOVED}.get(view.content)
    if notice is None:
        return
    show_problem(notice, severe=False)
    if view.stored:
        label = words.SHOW_NOW if view.now else words.SHOW_TODAY
        st.button(label, icon=":material/update:", on_click=_open_stored, args=(view,))


def _open_stored(view: "DocumentView") -> None:
    for name in CITED_BY:
        st.query_params.pop(name, None)
    start, end = view.now or (0, 0)
    st.query_params.update({"start": str(start), "end": str(end)})


def _show_text(view: "DocumentView") -> None:
    _show_pager(view)
    focus, *marks = [
        (start - view.start, end - view.start) for start, end in (view.focus, *view.marks)
    ]
    text = reading_html(view.text, focus, marks)
    st.html(f'<article class="fn-passage fn-reading"{lang(view.text)}>{text}</article>')
    scroll_to(".fn-reading mark")


def _show_pager(view: "DocumentView") -> None:
    if not view.passages:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="document-pager"):
        _pager_button(words.PREVIOUS_PASSAGE, ":material/arrow_back:", view.previous)
        _pager_button(words.NEXT_PASSAGE, ":material/arrow_forward:", view.next)
        place = words.PASSAGE_OF.format(ordinal=view.ordinal, passages=view.passages)
        st.html(f'<p class="fn-place">{escape(place)}</p>', width="content")


def _pager_button(label: str, icon: str, to: "Span | None") -> None:
    st.button(label, icon=icon, disabled=to is None, on_click=_turn_to, args=(to,))


def _turn_to(span: "Span") -> None:
    st.query_params.update({"start": str(span.start), "end": str(span.end)})


def _show_picture(reader: "DocumentReader", view: "DocumentView") -> None:
    page, version = view.page or 1, view.stored.version if view.stored else ""
    try:
        picture = _picture(reader, view.document_id, version, page)
    except UnreadableError as error:
        show_problem(str(error), severe=False)
        return
    caption = words.ORIGINAL_PAGE.format(page=page)
    st.image(picture, caption=caption, width="stretch", alt=f"{caption}: {view.title}")


@st.cache_resource(max_entries=PICTURES, show_spinner=False)
def _picture(_reader: "DocumentReader", document_id: str, version: str, page: int) -> bytes:  # noqa: ARG001  # part of the cache key
    return _reader.page_image(principal(), document_id, page)
