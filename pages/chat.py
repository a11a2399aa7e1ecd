"""The chat page: ask questions, read the answers, and check their sources."""

import streamlit as st

from ui.chat import (
    answer_view,
    first_import,
    question_refusal,
    scope_panel,
    shared_conversation,
    shortcuts,
    turn_actions,
    upload_view,
    welcome,
)
from ui.chat import conversation_list as conversations
from ui.shared import copying, frame
from ui.shared.safe_html import run_script
from ui.text import words

frame.require_frame("pages/chat.py")

services = frame.services()
shared_conversation.show_if_shared(services)
conversations.reopen_conversation()
frame.show_name(is_start=not conversations.current_conversation())
copying.allow_copying()
run_script("folder_paths")  # keeps the subfolders of a folder that is dropped on the input
about = st.container(key="about", horizontal=True, vertical_alignment="center")
conversations.show_conversations(services)
library = welcome.show_library(services)

turns = conversations.current_turns(services.turns)
conversation = conversations.shown_conversation(services.conversations)
with about:
    frame.show_model(services.chat.answerers.current())
    conversations.show_share(conversation)
frame.name_tab((conversation and conversation.title.strip()) or words.ASK_PAGE)
version, chosen = turn_actions.requested_version(), welcome.chosen_question()
place = answer_view.show_turns(services, turns, version)

start = st.empty()
upload_view.show_file_news(services, conversations.current_conversation())
with st.container(key="asking"):  # at the top level, Streamlit would pin the input and scroll
    with st.container(key="scope", horizontal=True, vertical_alignment="center"):
        search = scope_panel.show_scope(services, conversation)
        upload_view.show_files(services, conversations.current_conversation())
        if version or chosen:
            answer_view.show_stop()
        shortcuts.show_shortcuts()
    question_refusal.show_refusal()
    typed = st.chat_input(
        words.ASK_HERE,
        key=question_refusal.INPUT,
        on_submit=question_refusal.forget_refusal,
        submit_mode="stop",
        accept_file="multiple",
        max_upload_size=services.uploads.max_file_mb,
    )
conversation_id = conversations.current_conversation()
files = typed.files if typed else question_refusal.question_file()
if files:
    title = typed.text if typed else ""
    with place:
        conversation_id = upload_view.take_files(services, files, conversation_id, title)
    search = scope_panel.saved_search(services, conversation_id)  # now includes its files
request = version or (typed and typed.text.strip()) or chosen
if request:
    question_refusal.forget_refusal()
    with place:
        if not library.documents and not welcome.has_files(services, conversation_id):
            first_import.wait_for_first_import(services, request)
        is_empty = welcome.show_if_empty(services, request, conversation_id, search)
        if not is_empty and answer_view.ask(services, request, conversation_id, search):
            st.rerun()  # now shows the stored turn with checked citations
elif typed or files:
    st.rerun()  # shows the files beside the input
elif library.documents and not turns:
    welcome.show_welcome(start, services, library)
