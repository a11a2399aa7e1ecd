"""The chat page: ask, read the answer, check its sources."""

import streamlit as st

import ui
from ui import words

ui.require_frame("pages/chat.py")

services = ui.services()
ui.reopen_conversation()
ui.show_name(is_start=not ui.current_conversation())
ui.allow_copying()
ui.show_model(services.chat.answerers.current())
ui.show_conversations(services)
library = ui.show_library(services)

turns = ui.current_turns(services.turns)
again, chosen = ui.wanted_again(), ui.chosen_question()
place = ui.show_turns(services, turns, again)

welcome = st.empty()
ui.show_file_news(services, ui.current_conversation())
with st.container(key="asking"):  # Streamlit would pin it by itself, and follow the page's end
    with st.container(key="scope", horizontal=True, vertical_alignment="center"):
        search = ui.show_scope(services, ui.shown_conversation(services.conversations))
        ui.show_files(services, ui.current_conversation())
        if again or chosen:
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
    search = ui.kept_search(services, talk)  # now with its own files
asked = again or (typed and typed.text.strip()) or chosen
if asked:
    with place:
        told = ui.told_of_empty_library(services, asked)
        if not told and ui.ask(services, asked, ui.current_conversation(), search):
            st.rerun()  # now from what was stored, its citations checked
elif typed:
    st.rerun()  # the files stand beside the input now
elif library.documents and not turns:
    ui.show_welcome(welcome, services, library)
