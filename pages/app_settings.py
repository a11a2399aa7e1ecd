"""The settings page: what the data folder stores, next to the values of the environment."""

import streamlit as st

from ui.settings import setting_forms
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/app_settings.py")
frame.name_tab(words.SETTINGS_PAGE)

services = frame.services()
setting_forms.show_settings_title(services)
values = services.settings.values(frame.principal())
setting_forms.show_chat_settings(services, values)
setting_forms.show_embedding_settings(services, values)
setting_forms.show_language_settings(services, values)
setting_forms.show_ocr_settings(services, values)
setting_forms.show_retention_settings(services, values)
st.page_link("pages/status.py", label=words.STATUS_PAGE, icon=":material/monitor_heart:")
if not frame.has_sign_in():
    st.page_link(frame.ADMINISTRATION_PAGE, label=words.API_KEYS, icon=":material/key:")
