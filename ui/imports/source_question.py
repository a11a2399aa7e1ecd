"""Leads from an imported source to a question about its documents."""

import streamlit as st

from domain import ImportKind, Scope, SearchChoice
from services.sources.source_service import SourceStatus
from ui.chat.conversation_list import open_conversation
from ui.chat.scope_panel import set_search_for_new
from ui.text import words

CHAT_PAGE = "pages/chat.py"


def show_ask_button(status: SourceStatus, *, import_id: str = "") -> None:
    """Offer to ask about the source's documents, if it has any and is not being removed.

    A click opens the conversation whose files they are, or a new one that searches only this
    source. `import_id` is the import in whose report the button is.
    """
    is_leaving = status.run is not None and status.run.kind is ImportKind.REMOVAL
    if is_leaving or not status.figures.documents or status.source.is_catalog:
        return
    if st.button(
        words.ASK_ABOUT_SOURCE,
        key=f"ask-{import_id or status.source.id}",
        icon=":material/forum:",
        type="secondary" if import_id else "primary",
    ):
        conversation_id = status.source.conversation_id or None
        if conversation_id is None:
            set_search_for_new(SearchChoice(Scope(sources=(status.source.id,))))
        open_conversation(conversation_id)
        st.switch_page(CHAT_PAGE)
