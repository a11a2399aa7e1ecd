"""The sidebar with the conversations by age, their search, and their menus."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from bootstrap import Services
from domain import Conversation, Turn, TurnState
from domain.errors import AppError, NotFoundError
from services.chat.conversation_service import LIST_LIMIT, ConversationService, TurnService
from services.export.transcript_json import MAX_BYTES
from services.texts import MAX_TITLE_CHARS
from ui.chat.conversation_files import show_export, show_share_dialog
from ui.chat.conversation_titles import distinct_titles
from ui.shared.frame import principal, show_error, show_problem
from ui.shared.safe_html import literal
from ui.text import words
from ui.text.reader_language import day_and_time, here, now, time_of_day

PARAMETER = "conversation"
OPEN, STARTED_TURN = "open-conversation", "begun-turn"
TITLE_CHARACTERS = 60
STORE_TIMEOUT_S, POLL_S = 2.0, 0.05


def current_conversation() -> str | None:
    """The id in the page's address, None for a new conversation."""
    return st.query_params.get(PARAMETER)


def open_conversation(conversation_id: str | None) -> None:
    """Set the id in the page's address; the script continues."""
    st.session_state[OPEN] = conversation_id
    if conversation_id == current_conversation():
        return
    if conversation_id:
        st.query_params[PARAMETER] = conversation_id
    else:
        del st.query_params[PARAMETER]


def current_turns(turns: TurnService) -> list[Turn]:
    """The turns of the conversation in the address; shows a problem if it does not exist."""
    conversation_id = st.session_state[OPEN] = current_conversation()
    if not conversation_id:
        return []
    try:
        return _stored_turns(turns, conversation_id)
    except NotFoundError:
        open_conversation(None)
        show_problem(words.LOST_CONVERSATION, severe=False)
        return []


def note_begun(turn: Turn) -> None:
    """Remember the turn that this browser window is answering."""
    st.session_state[STARTED_TURN] = turn.id


def _stored_turns(turns: TurnService, conversation_id: str) -> list[Turn]:
    """The turns, after waiting until an answer that the reader interrupted is stored.

    The interrupted run notices this only at the model's next token, but this run starts at once.
    """
    started_id = st.session_state.pop(STARTED_TURN, "")
    stored = turns.list(principal(), conversation_id)
    until = time.monotonic() + STORE_TIMEOUT_S
    while _is_running(stored, started_id) and time.monotonic() < until:
        time.sleep(POLL_S)
        stored = turns.list(principal(), conversation_id)
    return stored


def _is_running(turns: list[Turn], turn_id: str) -> bool:
    return any(turn.id == turn_id and turn.state is TurnState.RUNNING for turn in turns)


def shown_conversation(conversations: ConversationService) -> Conversation | None:
    """The conversation in the address, None for a new one; call this after `current_turns`."""
    conversation_id = current_conversation()
    return conversations.get(principal(), conversation_id) if conversation_id else None


def short_title(title: str) -> str:
    """The title on one line, shortened to fit the sidebar."""
    line = " ".join(title.split()) or words.UNTITLED
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


DIALOG, DIALOG_ERROR = "conversation-dialog", "conversation-dialog-error"
DELETED, WAS_OPEN = "conversation-deleted", "conversation-was-open"
IMPORTED, IMPORTS = "conversation-imported", "conversation-imports"
IMPORT_ERROR = "conversation-import-error"
NEW_TITLE = "conversation-title"


def request_dialog(action: str, conversation: Conversation) -> None:
    """Request the dialog of an action: rename, share, export, or delete."""
    st.session_state[DIALOG] = (action, conversation)


def show_requested_dialog(services: Services) -> None:
    """Show the requested dialog, if any."""
    if DIALOG not in st.session_state:
        return
    action, conversation = st.session_state[DIALOG]
    title, show = {
        "rename": (words.RENAME_TITLE, _show_rename),
        "share": (words.SHARE_TITLE, show_share_dialog),
        "export": (words.EXPORT_TITLE, show_export),
        "delete": (words.DELETE_TITLE, _show_delete),
    }[action]
    st.dialog(title, on_dismiss=_close)(_in_dialog)(show, services, conversation)


def show_undo(services: Services) -> None:
    """Offer to restore the conversation that was just deleted."""
    if DELETED not in st.session_state:
        return
    conversation = st.session_state[DELETED]
    with st.container(horizontal=True, vertical_alignment="center", key="undo"):
        st.caption(words.DELETED.format(title=_label(conversation)))
        st.button(words.UNDO, icon=":material/undo:", on_click=_restore, args=(services,))
    _show_saved_error()


def take_undo_back() -> None:
    """Stop offering to undo the deletion."""
    st.session_state.pop(DELETED, None)


def show_import(services: Services) -> None:
    """Offer to import a conversation; a file is imported as soon as it is chosen."""
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
        _show_saved_error(IMPORT_ERROR)
    if conversation := st.session_state.pop(IMPORTED, None):
        text = words.CONVERSATION_IMPORTED.format(title=_label(conversation))
        st.toast(text, icon=icon, duration="long")


def _in_dialog(
    show: Callable[[Services, Conversation], None],
    services: Services,
    conversation: Conversation,
) -> None:
    """Show the dialog, or rerun the page once it is closed: its buttons rerun only the dialog."""
    if DIALOG not in st.session_state:
        st.rerun()
    show(services, conversation)
    _show_saved_error()


def _show_rename(services: Services, conversation: Conversation) -> None:
    with st.form("rename", border=False):
        st.text_input(words.NEW_TITLE, conversation.title, max_chars=MAX_TITLE_CHARS, key=NEW_TITLE)
        args = (services, conversation)
        st.form_submit_button(words.KEEP_TITLE, type="primary", on_click=_rename, args=args)


def show_share(conversation: Conversation | None) -> None:
    """Show a button that opens the dialog for sharing, if there is a conversation."""
    if conversation:
        args = ("share", conversation)
        icon = ":material/share:"
        st.button(
            words.SHARE_CONVERSATION,
            key="share",
            icon=icon,
            type="tertiary",
            on_click=request_dialog,
            args=args,
        )


def _show_delete(services: Services, conversation: Conversation) -> None:
    days = services.conversations.deleted_retention.days
    st.write(words.count(words.DELETE_NOTE, days, title=_label(conversation)))
    with st.container(horizontal=True):
        args = (services, conversation)
        st.button(words.DELETE, type="primary", key="delete", on_click=_delete, args=args)
        st.button(words.CANCEL, key="cancel", on_click=_close)


def _rename(services: Services, conversation: Conversation) -> None:
    with _keep_error():
        title = st.session_state[NEW_TITLE]
        services.conversations.rename(principal(), conversation.id, title)
        _close()


def _delete(services: Services, conversation: Conversation) -> None:
    with _keep_error():
        services.conversations.delete(principal(), conversation.id)
        st.session_state[DELETED] = conversation
        st.session_state[WAS_OPEN] = conversation.id == current_conversation()
        if st.session_state[WAS_OPEN]:
            open_conversation(None)
        _close()


def _restore(services: Services) -> None:
    with _keep_error():
        conversation = st.session_state[DELETED]
        services.conversations.restore(principal(), conversation.id)
        take_undo_back()
        if st.session_state[WAS_OPEN]:
            open_conversation(conversation.id)


def _import(services: Services, key: str) -> None:
    if (file := st.session_state[key]) is None:
        return
    with _keep_error(IMPORT_ERROR):
        conversation = services.conversations.import_json(principal(), file.getvalue())
        st.session_state[IMPORTED] = conversation
        st.session_state[IMPORTS] = st.session_state.get(IMPORTS, 0) + 1
        open_conversation(conversation.id)


def _close() -> None:
    st.session_state.pop(DIALOG, None)


@contextmanager
def _keep_error(key: str = DIALOG_ERROR) -> Iterator[None]:
    """Keep an error in the session, to be shown later."""
    try:
        yield
    except AppError as error:
        st.session_state[key] = error


def _show_saved_error(key: str = DIALOG_ERROR) -> None:
    if problem := st.session_state.pop(key, None):
        show_error(problem)


def _label(conversation: Conversation) -> str:
    return literal(short_title(conversation.title))


KEY_CHARACTERS = 4
LIMIT, SEARCH_WORDS = "conversations-limit", "conversations-sought"


def reopen_conversation() -> None:
    """Reopen the last conversation after a visit to another page, whose links do not name it."""
    comes_from_elsewhere = SEARCH_WORDS not in st.session_state  # other pages drop this key
    if comes_from_elsewhere and not current_conversation():
        open_conversation(st.session_state.get(OPEN))


def show_conversations(services: Services) -> None:
    """Show the sidebar and its open dialog."""
    with st.sidebar, st.container(key="conversations"):
        with st.container(horizontal=True, key="begin"):
            st.button(
                words.NEW_CONVERSATION,
                key="new-conversation",
                icon=":material/add:",
                width="stretch",
                on_click=_go_to,
                args=(None,),
            )
            show_import(services)
        search_words = st.text_input(
            words.SEARCH_CONVERSATIONS,
            type="search",
            key=SEARCH_WORDS,
            placeholder=words.SEARCH_CONVERSATIONS,
            label_visibility="collapsed",
            live=True,
            on_change=_list_from_the_top,
        )
        show_undo(services)
        _show_groups(services, search_words or "")
    show_requested_dialog(services)


def _show_groups(services: Services, search_words: str) -> None:
    limit = st.session_state.get(LIMIT, LIST_LIMIT)
    groups = services.conversations.grouped(principal(), now(), search_words, limit=limit)
    if search_words.strip():
        count = words.count(words.CONVERSATIONS_FOUND, groups.total)
        st.caption(count if groups.total else words.NO_CONVERSATION_FOUND)
    titles = _row_titles([one for _, conversations in groups for one in conversations])
    # One container for all rows, because each element is a message to the browser.
    with st.container(key="rows"):
        for age, conversations in groups:
            st.caption(words.AGES[age])
            for conversation in conversations:
                _show_conversation(conversation, titles[conversation.id])
    if groups.total > limit:
        st.button(words.MORE_CONVERSATIONS, type="tertiary", width="stretch", on_click=_list_more)
    if groups.total and (retention := services.conversations.inactive_retention):
        st.caption(words.count(words.CONVERSATION_RETENTION, retention.days))


def _row_titles(conversations: Sequence[Conversation]) -> dict[str, str]:
    """A distinct title for each id; equal ones show when they were started."""
    titles = [one.title.strip() or words.UNTITLED for one in conversations]
    shown = distinct_titles(titles, [_starts(one) for one in conversations])
    return {one.id: title for one, title in zip(conversations, shown, strict=True)}


def _starts(conversation: Conversation) -> tuple[str, str, str]:
    """When it was started: to the minute, to the second, and the time with a part of its id."""
    moment = conversation.created_at
    start = time_of_day if here(moment).date() == now().date() else day_and_time
    with_id = f"{time_of_day(moment, seconds=True)} {conversation.id[:KEY_CHARACTERS]}"
    return start(moment), start(moment, seconds=True), with_id


def _show_conversation(conversation: Conversation, row_title: str) -> None:
    title = literal(short_title(row_title))
    is_open = conversation.id == current_conversation()
    st.button(
        title,
        key=f"conversation-{conversation.id}",
        type="secondary" if is_open else "tertiary",
        width="stretch",
        on_click=_go_to,
        args=(conversation.id,),
    )
    action = st.menu_button(
        words.CONVERSATION_MENU.format(title=literal(short_title(conversation.title))),
        list(words.CONVERSATION_ACTIONS),
        format_func=words.CONVERSATION_ACTIONS.__getitem__,
        key=f"menu-{conversation.id}",
        type="tertiary",
        icon=":material/more_horiz:",
    )
    if action:
        request_dialog(action, conversation)


def _go_to(conversation_id: str | None) -> None:
    take_undo_back()
    open_conversation(conversation_id)


def _list_more() -> None:
    st.session_state[LIMIT] = 2 * st.session_state.get(LIMIT, LIST_LIMIT)


def _list_from_the_top() -> None:
    st.session_state.pop(LIMIT, None)
