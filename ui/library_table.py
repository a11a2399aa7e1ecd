"""The table of documents: a page of those that match, and what can be done with them."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap import Services
from domain import ListedDocument
from ui import words
from ui.errors import errors_shown, show_problem
from ui.language import day_and_time, number
from ui.library import marked_rows, open_document, tell
from ui.library_filter import Wanted, document_filter
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
    number_of_page: int = st.session_state.get(f"{PAGE}-{key}", 1)
    page = services.documents.page(
        principal(), *wanted, limit=ROWS, offset=ROWS * (number_of_page - 1)
    )
    if not page.total:
        st.caption(words.NONE_MATCHES)
        return
    if not page.documents:  # fewer than there were: from the first page on, then
        _choose_afresh()
        st.rerun()
    names = {one.id: one.name for one in contents.sources}
    marked = show_table(page.documents, names, f"{key}-{number_of_page}")
    _show_pager(page, number_of_page, f"{PAGE}-{key}")
    _show_actions(services, wanted, page, marked)


def show_table(
    documents: Sequence[ListedDocument], sources: dict[str, str], key: str
) -> list[ListedDocument]:
    """Show documents as rows; those a person has marked. The key changes with the rows."""
    columns, rows = _columns(), _rows(documents, sources)
    if not any(one.warnings for one in documents):
        del columns["warnings"]  # an empty one would take the room of others
    event = st.dataframe(
        {name: [row[name] for row in rows] for name in columns},
        column_config=columns,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"library-table-{key}",
        height="content" if len(documents) < 12 else 460,
        alt=words.TABLE_OF_DOCUMENTS,
        placeholder="",
    )
    return [documents[row] for row in marked_rows(event["selection"]["rows"], len(documents))]


def _columns() -> dict[str, Any]:
    text, count = st.column_config.TextColumn, st.column_config.NumberColumn
    return {
        "title": text(words.COLUMN_TITLE, width=300),
        "source": text(words.COLUMN_SOURCE, width=150),
        "format": text(words.COLUMN_FORMAT, width=65),
        "language": text(words.COLUMN_LANGUAGE, width=110),
        "pages": count(words.COLUMN_PAGES, width=65),
        "density": count(words.COLUMN_DENSITY, width=145, format="localized"),
        "passages": count(words.COLUMN_PASSAGES, width="small", format="localized"),
        "warnings": text(words.COLUMN_WARNINGS, width="medium"),
        "longest": count(words.COLUMN_LONGEST, width=120, format="localized"),
        "encoding": text(words.COLUMN_ENCODING, width="small"),
        "version": count(words.COLUMN_VERSION, width="small"),
        "imported": text(words.COLUMN_IMPORTED, width="medium"),
        "key": text(words.COLUMN_KEY, width="medium"),
    }


def _rows(
    documents: Sequence[ListedDocument], sources: dict[str, str]
) -> list[dict[str, str | int | None]]:
    return [
        {
            "title": one.title,
            "warnings": " · ".join(one.warnings),
            "source": sources.get(one.source_id, ""),
            "format": one.format,
            "language": words.SCRIPT_NAMES.get(one.script, one.script),
            "pages": one.pages or None,
            "density": one.characters_per_page,
            "passages": one.passages,
            "longest": one.longest_passage,
            "encoding": one.encoding or "",
            "version": one.revision,
            "imported": day_and_time(one.imported_at),
            "key": one.key,
        }
        for one in documents
    ]


def _show_pager(page: "DocumentPage", number_of_page: int, key: str) -> None:
    first = ROWS * (number_of_page - 1) + 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            words.SHOWN_OF.format(
                first=number(first),
                last=number(first + len(page.documents) - 1),
                total=number(page.total),
            )
        )
        if page.total > ROWS:
            st.pagination(-(-page.total // ROWS), key=key)


def _show_actions(
    services: Services, wanted: Wanted, page: "DocumentPage", marked: Sequence[ListedDocument]
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="library-actions"):
        every = st.toggle(
            words.DOCUMENTS_CHOOSE_ALL.format(n=number(page.total)), key=f"{ALL}-{_digest(wanted)}"
        )
        chosen = page.total if every else len(marked)
        st.caption(words.count(words.DOCUMENTS_CHOSEN, chosen) if chosen else words.HOW_TO_CHOOSE)
        if len(marked) == 1 and not every:
            _show_opener(marked[0])
        again = st.button(words.READ_AGAIN, icon=":material/sync:", disabled=not chosen)
        if st.button(words.LIBRARY_REMOVE, icon=":material/delete:", disabled=not chosen):
            st.session_state[REMOVING] = wanted
    ids = [one.id for one in marked]
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


def _show_opener(document: ListedDocument) -> None:
    st.button(
        words.SHOW_PASSAGES,
        icon=":material/splitscreen:",
        on_click=open_document,
        args=(document.id,),
    )


def _confirm_removal(services: Services, ids: Sequence[str]) -> None:
    """Say what a removal does, and do it once that is agreed to."""
    with st.container(border=True, key="library-removal"):
        question = words.count(words.LIBRARY_REMOVE_ASK, len(ids))
        show_problem(question, hint=words.LIBRARY_REMOVE_MEANS, severe=False)
        with st.container(horizontal=True):
            agreed = st.button(words.count(words.LIBRARY_REMOVE_NOW, len(ids)), type="primary")
            st.button(words.KEEP_THEM, on_click=_forget_removal)
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
    named = repr((wanted, st.session_state.get(ACTED, 0)))
    return hashlib.sha256(named.encode()).hexdigest()[:12]
