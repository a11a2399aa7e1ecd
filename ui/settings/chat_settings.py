"""The form for the chat model, which can be tested before it is stored."""

from enum import Enum, auto

import streamlit as st

from bootstrap import Services
from domain.setting_values import SettingValue
from ui.settings.setting_forms import (
    Changes,
    Values,
    change_of,
    help_of,
    label_of,
    reset_changes,
    save,
    secret_field,
    show_result,
    show_section,
    text_field,
)
from ui.shared.frame import form_key, principal, show_errors
from ui.shared.safe_html import escape
from ui.text import words

NAMES = ("openai_base_url", "openai_api_key", "chat_model")
MODELS = "settings_models"  # the endpoint that was listed last, and its models
SECTION = "chat"
SHOWN_CHARACTERS = 400


class Action(Enum):
    """What the buttons of the form do."""

    SAVE = auto()
    TEST = auto()
    LIST = auto()
    RESET = auto()


def show_chat_settings(services: Services, values: Values) -> None:
    """Show the chat model, and perform the action of the clicked button."""
    show_section(words.CHAT_SECTION, words.CHAT_NOTE)
    with st.form(form_key(SECTION)):
        changes = text_field(values["openai_base_url"], words.ENDPOINT_DEFAULT)
        endpoint = _endpoint(values, changes)
        changes |= secret_field(values["openai_api_key"])
        changes |= _model_field(values["chat_model"], _listed_models(endpoint))
        action = _clicked_action()
    match action:
        case Action.SAVE:
            save(services, SECTION, changes)
        case Action.TEST:
            _test(services, changes)
        case Action.LIST:
            _list_models(services, changes, endpoint)
        case Action.RESET:
            save(services, SECTION, reset_changes(values[name] for name in NAMES))
        case None:
            show_result(services, SECTION)


def _endpoint(values: Values, changes: Changes) -> str:
    name = "openai_base_url"
    return changes.get(name, values[name].value) or ""


def _listed_models(endpoint: str) -> list[str]:
    """The models of the endpoint, if it was the last one listed."""
    listed_endpoint, models = st.session_state.get(MODELS, ("", []))
    return models if endpoint == listed_endpoint else []


def _model_field(value: SettingValue, models: list[str]) -> Changes:
    """Show the model, to be chosen from `models` or typed."""
    current: list[str] = [value.value] if value.value else []
    listed = [one for one in models if one not in current]
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
    return change_of(value, (model or "").strip() or None)


def _clicked_action() -> Action | None:
    """Show the buttons; returns the action of the clicked one."""
    with st.container(horizontal=True):
        clicked = {
            Action.SAVE: st.form_submit_button(
                words.SAVE_SETTINGS, type="primary", key=form_key("save")
            ),
            Action.TEST: st.form_submit_button(words.TEST_MODEL, icon=":material/network_check:"),
            Action.LIST: st.form_submit_button(words.LIST_MODELS, icon=":material/list:"),
            Action.RESET: st.form_submit_button(words.RESET_SETTINGS, key=form_key("reset-chat")),
        }
    return next((action for action, is_clicked in clicked.items() if is_clicked), None)


@show_errors()
def _test(services: Services, changes: Changes) -> None:
    with st.spinner(words.TESTING_MODEL):
        test = services.settings.test_chat(principal(), changes)
    reply = " ".join(test.reply.split())[:SHOWN_CHARACTERS]
    text = words.MODEL_REPLIED.format(model=test.model, seconds=f"{test.seconds:.1f}", reply=reply)
    st.html(f'<div class="fn-seen" role="status"><p>{escape(text)}</p></div>')


@show_errors()
def _list_models(services: Services, changes: Changes, endpoint: str) -> None:
    st.session_state.pop(MODELS, None)
    models = services.settings.chat_models(principal(), changes)
    st.session_state[MODELS] = (endpoint, models)
    st.rerun()
