"""The document page: a document around a passage, with what an answer cites of it marked."""

from typing import TYPE_CHECKING

import streamlit as st

from errors import UnreadableError
from ui import words
from ui.age import age_html
from ui.errors import show_problem
from ui.highlight import reading_html
from ui.html import escape, lang
from ui.scrolling import scroll_to
from ui.services import principal
from ui.sources import WEB, original_html

if TYPE_CHECKING:
    from services.reader import DocumentReader, DocumentView, Span

CITED_BY = ("conversation", "turn", "n")
PICTURES = 32


def asked_document(reader: "DocumentReader") -> "DocumentView | None":
    """The document in the page's address; None, and a message, where the address is not whole.

    Raises:
        AppError: What is asked for is not there.
    """
    from services.reader import Cited

    told = st.query_params
    numbers = [told.get(name, "0") for name in ("start", "end", "n")]
    if not told.get("id") or not all(map(_is_number, numbers)):
        show_problem(words.BROKEN_LINK, severe=False)
        return None
    start, end, n = map(int, numbers)
    cited = Cited(told["conversation"], told["turn"], n) if _is_cited() else None
    return reader.view(principal(), told["id"], start, end, cited=cited)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16


def _is_cited() -> bool:
    return all(st.query_params.get(name) for name in CITED_BY)


def show_document(reader: "DocumentReader", view: "DocumentView") -> None:
    """Show the passage with what stands around it, and the original's page where it is a PDF."""
    st.html(_head(view))
    _show_kept(view)
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


def _show_kept(view: "DocumentView") -> None:
    """Say that this is not what is stored today, and lead there."""
    told = {"changed": words.KEPT_CHANGED, "gone": words.KEPT_GONE}.get(view.shown)
    if told is None:
        return
    show_problem(told, severe=False)
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
    told = words.ORIGINAL_PAGE.format(page=page)
    st.image(picture, caption=told, width="stretch", alt=f"{told}: {view.title}")


@st.cache_resource(max_entries=PICTURES, show_spinner=False)
def _picture(_reader: "DocumentReader", document_id: str, version: str, page: int) -> bytes:  # noqa: ARG001  # another version, another picture
    return _reader.page_image(principal(), document_id, page)
