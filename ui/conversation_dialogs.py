"""What is done to a conversation in the list: renamed, exported, deleted, brought back, imported.

A dialog is kept in the session until it is done with, so that a page that runs again shows it
again. Its buttons act before the page runs, which then shows the outcome.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from domain import Conversation
from errors import AppError
from services.questions import MAX_TITLE_CHARS
from services.transcript_json import MAX_BYTES
from services.transcripts import file_name
from ui import words
from ui.conversations import current_conversation, open_conversation, short_title
from ui.errors import show_error
from ui.literal import literal
from ui.services import principal

if TYPE_CHECKING:
    from bootstrap import Services

ASKED, REFUSED = "conversation-asked", "conversation-refused"
DELETED, WAS_OPEN = "conversation-deleted", "conversation-was-open"
IMPORTED, IMPORTS = "conversation-imported", "conversation-imports"
IMPORT_REFUSED = "conversation-import-refused"
NEW_TITLE = "conversation-title"
MIME = {"md": "text/markdown", "html": "text/html", "json": "application/json"}


def ask_what(action: str, conversation: Conversation) -> None:
    """Have the dialog for that action shown: rename, export or delete."""
    st.session_state[ASKED] = (action, conversation)


def show_asked(services: "Services") -> None:
    """Show the dialog that was asked for, if one was."""
    if ASKED not in st.session_state:
        return
    action, conversation = st.session_state[ASKED]
    title, show = {
        "rename": (words.RENAME_TITLE, _show_rename),
        "export": (words.EXPORT_TITLE, _show_export),
        "delete": (words.DELETE_TITLE, _show_delete),
    }[action]
    st.dialog(title, on_dismiss=_close)(_unless_done)(show, services, conversation)


def show_undo(services: "Services") -> None:
    """Offer to bring back what was just deleted."""
    if DELETED not in st.session_state:
        return
    conversation = st.session_state[DELETED]
    with st.container(horizontal=True, vertical_alignment="center", key="undo"):
        st.caption(words.DELETED.format(title=_label(conversation)))
        st.button(words.UNDO, icon=":material/undo:", on_click=_restore, args=(services,))
    _show_refused()


def take_undo_back() -> None:
    """Offer it no longer: the reader has gone on."""
    st.session_state.pop(DELETED, None)


def show_import(services: "Services") -> None:
    """Offer to import a conversation; a file is imported as soon as it is given."""
    # Once a file is imported, its field is replaced by an empty one behind a closed button.
    n = st.session_state.get(IMPORTS, 0)
    icon, key = ":material/upload_file:", f"conversation-file-{n}"
    label = words.IMPORT_CONVERSATION
    with st.popover(label, icon=icon, help=label, type="tertiary", key=f"import-{n}"):
        st.file_uploader(
            words.IMPORT_CONVERSATION_FILE,
            type=["json"],
            max_upload_size=MAX_BYTES // 2**20,
            key=key,
            on_change=_import,
            args=(services, key),
        )
        if problem := st.session_state.pop(IMPORT_REFUSED, None):
            show_error(problem)
    if conversation := st.session_state.pop(IMPORTED, None):
        told = words.CONVERSATION_IMPORTED.format(title=_label(conversation))
        st.toast(told, icon=icon, duration="long")


def _unless_done(
    show: Callable[["Services", Conversation], None],
    services: "Services",
    conversation: Conversation,
) -> None:
    """The dialog, or the page without it: a button in a dialog runs nothing but the dialog."""
    if ASKED not in st.session_state:
        st.rerun()
    show(services, conversation)
    _show_refused()


def _show_rename(services: "Services", conversation: Conversation) -> None:
    with st.form("rename", border=False):
        st.text_input(words.NEW_TITLE, conversation.title, max_chars=MAX_TITLE_CHARS, key=NEW_TITLE)
        args = (services, conversation)
        st.form_submit_button(words.KEEP_TITLE, type="primary", on_click=_rename, args=args)


def _show_export(services: "Services", conversation: Conversation) -> None:
    st.caption(words.EXPORT_NOTE)
    asking = principal()
    for form, label in words.EXPORT_FORMS.items():
        st.download_button(
            label,
            # Made when it is wanted, outside of the page's run.
            partial(services.conversations.export, asking, conversation.id, form),
            file_name(conversation.title, form),
            MIME[form],
            key=f"export-{form}",
            icon=":material/download:",
            width="stretch",
            on_click="ignore",
        )


def _show_delete(services: "Services", conversation: Conversation) -> None:
    st.write(words.DELETE_NOTE.format(title=_label(conversation)))
    with st.container(horizontal=True):
        args = (services, conversation)
        st.button(words.DELETE, type="primary", key="delete", on_click=_delete, args=args)
        st.button(words.CANCEL, key="cancel", on_click=_close)


def _rename(services: "Services", conversation: Conversation) -> None:
    with _refused_told():
        title = st.session_state[NEW_TITLE]
        services.conversations.rename(principal(), conversation.id, title)
        _close()


def _delete(services: "Services", conversation: Conversation) -> None:
    with _refused_told():
        services.conversations.delete(principal(), conversation.id)
        st.session_state[DELETED] = conversation
        st.session_state[WAS_OPEN] = conversation.id == current_conversation()
        if st.session_state[WAS_OPEN]:
            open_conversation(None)
        _close()


def _restore(services: "Services") -> None:
    with _refused_told():
        conversation = st.session_state[DELETED]
        services.conversations.restore(principal(), conversation.id)
        take_undo_back()
        if st.session_state[WAS_OPEN]:
            open_conversation(conversation.id)


def _import(services: "Services", key: str) -> None:
    if (file := st.session_state[key]) is None:
        return
    try:
        conversation = services.conversations.import_json(principal(), file.getvalue())
    except AppError as error:
        st.session_state[IMPORT_REFUSED] = error
        return
    st.session_state[IMPORTED] = conversation
    st.session_state[IMPORTS] = st.session_state.get(IMPORTS, 0) + 1
    open_conversation(conversation.id)


def _close() -> None:
    st.session_state.pop(ASKED, None)


@contextmanager
def _refused_told() -> Iterator[None]:
    """What a service refuses is kept for where it is to be shown."""
    try:
        yield
    except AppError as error:
        st.session_state[REFUSED] = error


def _show_refused() -> None:
    if problem := st.session_state.pop(REFUSED, None):
        show_error(problem)


def _label(conversation: Conversation) -> str:
    return literal(short_title(conversation.title))
