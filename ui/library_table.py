"""The table of documents: a page of those that match, and what can be done with them."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap import Services
from domain import ListedDocument
from ui import words
from ui.errors import errors_shown, show_problem
from ui.language import here, number, table_format
from ui.library import open_document, tell
from ui.library_filter import Wanted, document_filter
from ui.marking import digest, marked
from ui.paging import offset_of, show_pages
from ui.scrolling import scroll_to
from ui.service_text import said
from ui.services import principal

if TYPE_CHECKING:
    from services.documents import DocumentPage

ROWS = 50
PAGE, REMOVING, ALL, ACTED = "library-page", "library_removing", "library-all", "library_acted"


def show_documents(services: Services) -> None:
    """Show the documents that match, page by page, and the buttons for those chosen."""
    contents = services.documents.contents(principal())
    wanted = document_filter(contents)
    key = _digest(wanted)
    offset = offset_of(f"{PAGE}-{key}", ROWS)
    page = services.documents.page(principal(), *wanted, limit=ROWS, offset=offset)
    if not page.total:
        st.caption(words.NONE_MATCHES)
        return
    if not page.documents:  # fewer than there were: from the first page on, then
        _choose_afresh()
        st.rerun()
    names = {one.id: one.name for one in contents.sources}
    ids = _show_table(page.documents, names, f"library-table-{key}-{offset}")
    _show_pager(page, offset, f"{PAGE}-{key}")
    _show_actions(services, wanted, page.total, ids)


def _show_table(
    documents: Sequence[ListedDocument], sources: dict[str, str], key: str
) -> list[str]:
    """Show documents as rows; the ids of those a person has marked."""
    columns, rows = _columns(), _rows(documents, sources)
    if not any(one.warnings for one in documents):
        del columns["warnings"]  # an empty one would take the room of others
    return marked(
        key,
        [one.id for one in documents],
        {name: [row[name] for row in rows] for name in columns},
        columns,
        alt=words.TABLE_OF_DOCUMENTS,
        height="content" if len(documents) < 12 else 460,
    )


def _columns() -> dict[str, Any]:
    text, count = st.column_config.TextColumn, st.column_config.NumberColumn
    moment = st.column_config.DatetimeColumn  # in the order of time, once its head is clicked
    return {
        "title": text(words.COLUMN_TITLE, width=300),
        "source": text(words.COLUMN_SOURCE, width=150),
        "format": text(words.COLUMN_FORMAT, width=90),
        "language": text(words.COLUMN_LANGUAGE, width=110),
        "pages": count(words.COLUMN_PAGES, width=65),
        "density": count(words.COLUMN_DENSITY, width=145, format="localized"),
        "passages": count(words.COLUMN_PASSAGES, width="small", format="localized"),
        "warnings": text(words.COLUMN_WARNINGS, width="medium"),
        "longest": count(words.COLUMN_LONGEST, width=120, format="localized"),
        "encoding": text(words.COLUMN_ENCODING, width="small"),
        "version": count(words.COLUMN_VERSION, width="small"),
        "imported": moment(words.COLUMN_IMPORTED, width="medium", format=table_format()),
        "key": text(words.COLUMN_KEY, width="medium"),
    }


def _rows(
    documents: Sequence[ListedDocument], sources: dict[str, str]
) -> list[dict[str, str | int | datetime | None]]:
    return [
        {
            "title": one.title,
            "warnings": " · ".join(map(said, one.warnings)),
            "source": sources.get(one.source_id, ""),
            "format": one.format,
            "language": words.SCRIPT_NAMES.get(one.script, one.script),
            "pages": one.pages or None,
            "density": one.characters_per_page,
            "passages": one.passages,
            "longest": one.longest_passage,
            "encoding": one.encoding or "",
            "version": one.revision,
            "imported": here(one.imported_at),
            "key": one.key,
        }
        for one in documents
    ]


def _show_pager(page: "DocumentPage", offset: int, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            words.SHOWN_OF.format(
                first=number(offset + 1),
                last=number(offset + len(page.documents)),
                total=number(page.total),
            )
        )
        show_pages(page.total, ROWS, key)


def _show_actions(services: Services, wanted: Wanted, total: int, ids: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="library-actions"):
        every = st.toggle(
            words.DOCUMENTS_CHOOSE_ALL.format(n=number(total)), key=f"{ALL}-{_digest(wanted)}"
        )
        chosen = total if every else len(ids)
        st.caption(words.count(words.DOCUMENTS_CHOSEN, chosen) if chosen else words.HOW_TO_CHOOSE)
        if len(ids) == 1 and not every:
            _show_opener(ids[0])
        again = st.button(words.READ_AGAIN, icon=":material/sync:", disabled=not chosen)
        if st.button(words.LIBRARY_REMOVE, icon=":material/delete:", disabled=not chosen):
            st.session_state[REMOVING] = wanted
    if not chosen:
        _forget_removal()
    removing = st.session_state.get(REMOVING) == wanted
    if every and (again or removing):
        ids = services.documents.ids(principal(), wanted.filter)
    if again:
        with errors_shown():
            services.documents.reimport(principal(), ids)
            _choose_afresh()
            tell(words.count(words.WILL_IMPORT, len(ids)))
    if ids and removing:
        _confirm_removal(services, ids)


def _show_opener(document_id: str) -> None:
    st.button(
        words.SHOW_PASSAGES,
        icon=":material/splitscreen:",
        on_click=open_document,
        args=(document_id,),
    )


def _confirm_removal(services: Services, ids: Sequence[str]) -> None:
    """Say what a removal does, and do it once that is agreed to."""
    with st.container(border=True, key="library-removal"):
        question = words.count(words.LIBRARY_REMOVE_ASK, len(ids))
        show_problem(question, hint=words.LIBRARY_REMOVE_MEANS, severe=False)
        with st.container(horizontal=True):
            agreed = st.button(words.count(words.LIBRARY_REMOVE_NOW, len(ids)), type="primary")
            st.button(words.KEEP_THEM, on_click=_forget_removal)
    scroll_to(".st-key-library-removal", of=f"{len(ids)} {ids[0]}")
    if agreed:
        _forget_removal()
        with errors_shown():
            services.documents.remove(principal(), ids)
            _choose_afresh()
            tell(words.count(words.WILL_REMOVE, len(ids)))


def _forget_removal() -> None:
    st.session_state.pop(REMOVING, None)


def _choose_afresh() -> None:
    """Let nothing be chosen any more: what was done to it is not to be done twice."""
    st.session_state[ACTED] = st.session_state.get(ACTED, 0) + 1


def _digest(wanted: Wanted) -> str:
    """Names the widgets: other documents, or the same after something was done, are other ones."""
    return digest((wanted, st.session_state.get(ACTED, 0)))
