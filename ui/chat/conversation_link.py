"""The link with which a conversation is shared within the team."""

from typing import TYPE_CHECKING

import streamlit as st

from ui.shared.copying import show_copy_button
from ui.shared.frame import principal, show_errors
from ui.shared.safe_html import escape
from ui.text import words

if TYPE_CHECKING:
    from bootstrap import Services
    from domain import Conversation


@show_errors()
def show_link(services: "Services", conversation: "Conversation") -> None:
    """Show the link with a way to remove it, or a button that creates one."""
    st.write(words.LINK_NOTE)
    args = (services, conversation.id)
    link = services.sharing.link(principal(), conversation.id)
    if link is None:
        icon = ":material/link:"
        label = words.CREATE_LINK
        st.button(label, type="primary", icon=icon, key="link", on_click=_share, args=args)
        return
    st.html(f'<code class="fn-secret">{escape(link.address)}</code>')
    with st.container(horizontal=True, vertical_alignment="center"):
        show_copy_button(link.address)
        icon = ":material/link_off:"
        st.button(words.REMOVE_LINK, icon=icon, key="no-link", on_click=_unshare, args=args)


@show_errors()
def _share(services: "Services", conversation_id: str) -> None:
    services.sharing.share(principal(), conversation_id)


@show_errors()
def _unshare(services: "Services", conversation_id: str) -> None:
    services.sharing.unshare(principal(), conversation_id)
