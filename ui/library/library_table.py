"""The table of documents: a page of the matching ones, and the actions on them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import streamlit as st

from bootstrap import Services
from domain import ListedDocument
from services.access import SourceDocument
from ui.library.library_page import Filters, document_filter, open_document, source_names, tell
from ui.shared.confirmation import is_confirmed
from ui.shared.frame import may_edit, offset_of, principal, show_errors, show_pager, show_pages
from ui.shared.row_selection import digest, select_rows
from ui.text import words
from ui.text.english.text_kinds import Plural
from ui.text.reader_language import here, number, table_format

ROWS = 50
PAGE, REMOVING, ALL, ACTED = "library-page", "library_removing", "library-all", "library_acted"


def show_documents(services: Services) -> None:
    """Show the matching documents, page by page, and the buttons for the selected ones."""
    contents = services.documents.contents(principal())
    filters = document_filter(contents)
    key = _digest(filters)
    offset = offset_of(f"{PAGE}-{key}", ROWS)
    page = services.documents.page(principal(), *filters, limit=ROWS, offset=offset)
    if not page.total:
        st.caption(words.NONE_MATCHES)
        return
    if not page.documents:  # there are fewer now, so start from the first page
        _choose_afresh()
        st.rerun()
    names = {one.id: one.name for one in contents.sources}
    ids = _show_table(page.documents, names, f"library-table-{key}-{offset}")
    show_pager(offset, len(page.documents), page.total, ROWS, f"{PAGE}-{key}")
    _show_actions(services, filters, page.total, ids)


TITLE_IN_ADDRESS = r"^document\?(.*)&id=\w+$"


def title_address(document: ListedDocument) -> str:
    """The address of the document, beginning with its title so that the column sorts by it.

    The table shows the part of the address that matches `TITLE_IN_ADDRESS`, decoded as JavaScript's
    `decodeURI` does, which leaves a number sign encoded.
    """
    title = quote(document.title.replace("#", "＃"), safe=";/?:@=+$,!'()* ")
    return f"document?{title}&id={document.id}"


def _show_table(
    documents: Sequence[ListedDocument], sources: dict[str, str], key: str
) -> list[str]:
    """Show the documents as rows, and return the ids of the selected ones."""
    columns, rows = _columns(), _rows(documents, sources)
    if not any(one.warnings for one in documents):
        del columns["warnings"]  # an empty column would take space from the others
    return select_rows(
        key,
        [one.id for one in documents],
        {name: [row[name] for row in rows] for name in columns},
        columns,
        alt=words.TABLE_OF_DOCUMENTS,
    )


def _columns() -> dict[str, Any]:
    text, count = st.column_config.TextColumn, st.column_config.NumberColumn
    moment = st.column_config.DatetimeColumn  # a click on its header sorts by time
    return {
        "title": st.column_config.LinkColumn(
            words.COLUMN_TITLE, width=300, display_text=TITLE_IN_ADDRESS
        ),
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
            "title": title_address(one),
            "warnings": " · ".join(map(words.translated, one.warnings)),
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


def _show_actions(services: Services, filters: Filters, total: int, ids: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="library-actions"):
        every = st.toggle(
            words.DOCUMENTS_CHOOSE_ALL.format(n=number(total)), key=f"{ALL}-{_digest(filters)}"
        )
        chosen = total if every else len(ids)
        st.caption(words.count(words.DOCUMENTS_CHOSEN, chosen) if chosen else words.HOW_TO_CHOOSE)
        if len(ids) == 1 and not every:
            _show_opener(ids[0])
        again = _edit_button(words.READ_AGAIN, ":material/sync:", is_possible=bool(chosen))
        if _edit_button(words.LIBRARY_REMOVE, ":material/delete:", is_possible=bool(chosen)):
            st.session_state[REMOVING] = filters
    if not chosen:
        st.session_state.pop(REMOVING, None)
    removing = st.session_state.get(REMOVING) == filters
    if every and (again or removing):
        ids = services.documents.ids(principal(), filters.filter)
    if again:
        with show_errors():
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
    """Explain what a removal does, and perform it after confirmation."""
    if is_confirmed(
        "library-removal",
        REMOVING,
        words.count(words.LIBRARY_REMOVE_ASK, len(ids)),
        hint=words.LIBRARY_REMOVE_MEANS,
        agree=words.count(words.LIBRARY_REMOVE_NOW, len(ids)),
        cancel=words.KEEP_THEM,
        of=f"{len(ids)} {ids[0]}",
    ):
        with show_errors():
            services.documents.remove(principal(), ids)
            _choose_afresh()
            tell(words.count(words.WILL_REMOVE, len(ids)))


def _choose_afresh() -> None:
    """Clear the selection, so that an action is not repeated by accident."""
    st.session_state[ACTED] = st.session_state.get(ACTED, 0) + 1


def _digest(filters: Filters) -> str:
    """A key for the widgets, which resets them when the filters change or after an action."""
    return digest((filters, st.session_state.get(ACTED, 0)))


FAILURE_PAGE, EXCLUDED_PAGE = "failures_page", "left_out_page"


def show_failures(services: Services) -> None:
    """Show the unreadable documents with reasons, and buttons to retry or dismiss them."""
    paged = f"{FAILURE_PAGE}-{services.failures.count(principal())}"
    offset = offset_of(paged, ROWS)
    page = services.failures.page(principal(), limit=ROWS, offset=offset)
    if page.unnamed:
        st.caption(words.count(words.FAILURES_UNNAMED, page.unnamed))
    if not page.total:
        if not page.unnamed:
            st.caption(words.NO_FAILURES)
        return
    st.caption(words.FAILURES_NOTE)
    names = source_names(services)
    columns: dict[str, Sequence[object]] = {
        words.COLUMN_KEY: [one.name for one in page.failures],
        words.COLUMN_REASON: [words.translated(one.reason) for one in page.failures],
        words.COLUMN_SOURCE: [names.get(one.source_id, "") for one in page.failures],
        words.COLUMN_LAST_TRY: [one.failed_at and here(one.failed_at) for one in page.failures],
    }
    config = {
        words.COLUMN_KEY: st.column_config.TextColumn(width="medium"),
        words.COLUMN_REASON: st.column_config.TextColumn(width="large"),
        words.COLUMN_LAST_TRY: st.column_config.DatetimeColumn(format=table_format()),
    }
    listed = [(one.source_id, one.key) for one in page.failures]
    identifiers = select_rows(
        f"{FAILURE_PAGE}-{offset}", listed, columns, config, alt=words.TABLE_OF_FAILURES
    )
    show_pages(page.total, ROWS, paged)
    _show_failure_buttons(services, identifiers, page.total)


def _show_failure_buttons(
    services: Services, identifiers: Sequence[SourceDocument], total: int
) -> None:
    retry = words.RETRY_CHOSEN if identifiers else words.RETRY_ALL
    dismiss = words.DISMISS_CHOSEN if identifiers else words.DISMISS_ALL
    with st.container(horizontal=True):
        retried = _button(retry, len(identifiers) or total, ":material/sync:", "retry-failed")
        dismissed = _button(
            dismiss, len(identifiers) or total, ":material/done_all:", "dismiss-failed"
        )
    if not (retried or dismissed):
        return
    chosen = identifiers or services.failures.identifiers(principal())
    with show_errors():
        if retried:
            services.failures.retry(principal(), chosen)
            tell(words.count(words.WILL_IMPORT, len(chosen)))
        services.failures.dismiss(principal(), chosen)
        tell(words.count(words.FAILURES_DISMISSED, len(chosen)))


def show_excluded(services: Services) -> None:
    """Show the excluded documents, and a button to include them again."""
    excluded = services.documents.excluded(principal())
    if not excluded:
        st.caption(words.NOTHING_EXCLUDED)
        return
    st.caption(words.EXCLUDED_NOTE)
    names = source_names(services)
    paged = f"{EXCLUDED_PAGE}-{len(excluded)}"
    start = offset_of(paged, ROWS)
    listed = excluded[start : start + ROWS]
    columns = {
        words.COLUMN_KEY: [key for _, key in listed],
        words.COLUMN_SOURCE: [names.get(source_id, "") for source_id, _ in listed],
    }
    config = {words.COLUMN_KEY: st.column_config.TextColumn(width="medium")}
    identifiers = select_rows(
        f"{EXCLUDED_PAGE}-{start}", listed, columns, config, alt=words.TABLE_OF_EXCLUDED
    )
    show_pages(len(excluded), ROWS, paged)
    chosen = identifiers or excluded
    label = words.TAKE_BACK_CHOSEN if identifiers else words.TAKE_BACK_ALL
    if _button(label, len(chosen), ":material/undo:", "take-back"):
        with show_errors():
            services.documents.include_again(principal(), chosen)
            tell(words.count(words.WILL_TAKE_BACK, len(chosen)))


def _button(label: Plural, n: int, icon: str, key: str) -> bool:
    return _edit_button(words.count(label, n), icon, key=key)


def _edit_button(
    label: str, icon: str, *, is_possible: bool = True, key: str | None = None
) -> bool:
    """A button for a change, which only editors can press; the others see why."""
    is_allowed = may_edit()
    reason = None if is_allowed else words.FOR_EDITORS
    is_disabled = not (is_possible and is_allowed)
    return st.button(label, icon=icon, key=key, disabled=is_disabled, help=reason)
