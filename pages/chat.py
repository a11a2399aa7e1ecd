"""The chat page: ask questions, read the answers, and check their sources."""

import streamlit as st

import ui
from ui.text import words

ui.require_frame("pages/chat.py")

services = ui.services()
ui.reopen_conversation()
ui.show_name(is_start=not ui.current_conversation())
ui.allow_copying()
ui.show_model(services.chat.answerers.current())
ui.show_conversations(services)
library = ui.show_library(services)

turns = ui.current_turns(services.turns)
version, chosen = ui.requested_version(), ui.chosen_question()
place = ui.show_turns(services, turns, version)

welcome = st.empty()
ui.show_file_news(services, ui.current_conversation())
with st.container(key="asking"):  # at the top level, Streamlit would pin the input and scroll
    with st.container(key="scope", horizontal=True, vertical_alignment="center"):
        search = ui.show_scope(services, ui.shown_conversation(services.conversations))
        ui.show_files(services, ui.current_conversation())
        if version or chosen:
            ui.show_stop()
    typed = st.chat_input(
        words.ASK_HERE,
        submit_mode="stop",
        accept_file="multiple",
        max_upload_size=services.uploads.max_file_mb,
    )
if typed and typed.files:
    with place:
        talk = ui.take_files(services, typed.files, ui.current_conversation(), typed.text)
    ui.open_conversation(talk)
    search = ui.saved_search(services, talk)  # its scope now includes its files
request = version or (typed and typed.text.strip()) or chosen
if request:
    with place:
        is_empty = ui.show_if_empty(services, request)
        if not is_empty and ui.ask(services, request, ui.current_conversation(), search):
            st.rerun()  # now shows the stored turn with checked citations
elif typed:
    st.rerun()  # shows the files beside the input
elif library.documents and not turns:
    ui.show_welcome(welcome, services, library)
