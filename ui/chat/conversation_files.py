"""How a conversation leaves its owner: by a link, or as a file for reading or importing it."""

from functools import partial

import streamlit as st

from bootstrap import Services
from domain import Conversation
from services.export.transcripts import file_name
from ui.shared.copying import show_copy_button
from ui.shared.frame import has_sign_in, principal, show_errors
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import language

MIME = {"md": "text/markdown", "html": "text/html", "json": "application/json"}


def show_export(services: Services, conversation: Conversation) -> None:
    """Offer the conversation in each format."""
    st.write(_with_contents(words.EXPORT_NOTE))
    for form, label in words.EXPORT_FORMS.items():
        _download_button(services, conversation, form, label)


def show_share_dialog(services: Services, conversation: Conversation) -> None:
    """Offer a link for people who sign in, and a file that others can read without Footnote."""
    if has_sign_in():
        _show_link(services, conversation)
        st.divider()
    st.write(_with_contents(words.SHARE_NOTE))
    st.caption(words.SHARE_WARNING)
    _download_button(services, conversation, "html", words.SHARE_DOWNLOAD, is_primary=True)


def _with_contents(note: str) -> str:
    """The note, and below it a list of what a file in Markdown or HTML contains."""
    return "\n".join([note, "", *(f"- {one}" for one in words.FILE_CONTENTS)])


def _download_button(
    services: Services,
    conversation: Conversation,
    form: str,
    label: str,
    *,
    is_primary: bool = False,
) -> None:
    spoken = language()
    st.download_button(
        label,
        partial(  # runs on the click, outside the page's run
            services.conversations.export,
            principal(),
            conversation.id,
            form,
            language=spoken,
            translate=partial(words.translated_into, spoken),
        ),
        file_name(conversation.title, form),
        MIME[form],
        key=f"download-{form}",
        icon=":material/download:",
        width="stretch",
        type="primary" if is_primary else "secondary",
        on_click="ignore",
    )


@show_errors()
def _show_link(services: Services, conversation: Conversation) -> None:
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
def _share(services: Services, conversation_id: str) -> None:
    services.sharing.share(principal(), conversation_id)


@show_errors()
def _unshare(services: Services, conversation_id: str) -> None:
    services.sharing.unshare(principal(), conversation_id)
