"""The chat page: ask, read the answer, check its sources."""

import streamlit as st

import ui
from ui import words

ui.require_frame("pages/chat.py")

services = ui.services()
chat = services.chat
ui.show_model(chat.model_label)
ui.show_conversations(services)
library = ui.show_library(services)

turns = ui.current_turns(chat)
for turn in turns:
    ui.show_turn(turn)
    ui.show_feedback(services, turn)

welcome = st.empty()
typed = st.chat_input(words.ASK_HERE, submit_mode="stop", disabled=not library.documents)
question = typed or ui.chosen_question()
if question:
    if ui.ask(chat, question, ui.current_conversation()):
        st.rerun()  # now from what was stored, its citations checked
elif library.documents and not turns:
    ui.show_welcome(welcome, services, library)
