"""The form for the chat model, which can be tested before it is stored."""

import streamlit as st

from bootstrap import Services
from domain.setting_values import SettingValue
from errors import AppError
from ui.settings.setting_forms import (
    Changes,
    changed,
    form_key,
    help_of,
    label_of,
    reset_changes,
    save,
    secret_field,
    show_result,
    show_section,
    text_field,
)
from ui.shared.frame import principal, show_error
from ui.shared.safe_html import escape
from ui.text import words

NAMES = ("openai_base_url", "openai_api_key", "chat_model")
MODELS = "settings_models"
SECTION = "chat"
SAVE, TEST, LIST, RESET = "save", "test", "list", "reset"
SHOWN_CHARACTERS = 400


def show_chat_settings(services: Services) -> None:
    """Show the chat model, and perform the action of the clicked button."""
    show_section(words.CHAT_SECTION, words.CHAT_NOTE)
    values = services.settings.values(principal())
    with st.form(form_key(SECTION)):
        changes = {
            **text_field(values["openai_base_url"], words.ENDPOINT_DEFAULT),
            **secret_field(values["openai_api_key"]),
            **_model_field(values["chat_model"]),
        }
        pressed = _buttons()
    match pressed:
        case "save":
            save(services, SECTION, changes)
        case "test":
            _test(services, changes)
        case "list":
            _list_models(services, changes)
        case "reset":
            save(services, SECTION, reset_changes(values, NAMES))
        case _:
            show_result(services, SECTION)


def _model_field(value: SettingValue) -> Changes:
    """Show the model, to be chosen from the endpoint's list or typed."""
    current: list[str] = [value.value] if value.value else []
    listed = [one for one in st.session_state.get(MODELS, []) if one not in current]
    model = st.selectbox(
        label_of(value),
        [*current, *listed],
        index=0 if current else None,
        placeholder=words.MODEL_PLACEHOLDER,
        accept_new_options=True,
        disabled=value.is_fixed,
        help=help_of(value),
        key=form_key(value.name),
    )
    return changed(value, (model or "").strip() or None)


def _buttons() -> str:
    """Show the buttons; returns the clicked one, or ""."""
    with st.container(horizontal=True):
        pressed = {
            SAVE: st.form_submit_button(words.SAVE_SETTINGS, type="primary", key=form_key("save")),
            TEST: st.form_submit_button(words.TEST_MODEL, icon=":material/network_check:"),
            LIST: st.form_submit_button(words.LIST_MODELS, icon=":material/list:"),
            RESET: st.form_submit_button(words.RESET_SETTINGS, key=form_key("reset-chat")),
        }
    return next((name for name, was in pressed.items() if was), "")


def _test(services: Services, changes: Changes) -> None:
    try:
        with st.spinner(words.TESTING_MODEL):
            test = services.settings.test_chat(principal(), changes)
    except AppError as error:
        show_error(error)
        return
    reply = " ".join(test.reply.split())[:SHOWN_CHARACTERS]
    text = words.MODEL_REPLIED.format(model=test.model, seconds=f"{test.seconds:.1f}", reply=reply)
    st.html(f'<div class="fn-seen" role="status"><p>{escape(text)}</p></div>')


def _list_models(services: Services, changes: Changes) -> None:
    try:
        st.session_state[MODELS] = services.settings.chat_models(principal(), changes)
    except AppError as error:
        show_error(error)
        return
    st.rerun()
