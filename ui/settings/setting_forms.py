"""The forms of the settings page, which store their settings, and the rebuild of the index."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from bootstrap import Services
from domain import Progress
from domain.errors import AppError
from domain.setting_values import Origin, SettingValue
from ui.shared.frame import (
    Notices,
    form_key,
    principal,
    renew_forms,
    show_error,
    show_errors,
    show_problem,
    show_title,
)
from ui.shared.safe_html import escape
from ui.text import words

Changes = dict[str, Any]
"""The input of a form by setting; None stands for the default."""
Values = Mapping[str, SettingValue]
"""The current values by setting."""

CHANGE = "settings_change"
NOTE = "settings_note"  # the section of the last change, and what became of it
DEFAULT_PROVIDER, SERVER_PROVIDER = "builtin", "openai"
PROVIDERS = (DEFAULT_PROVIDER, "fastembed", SERVER_PROVIDER)
LANGUAGES = ("auto", "en", "ko", "ja")
MOST_DAYS = 3650


def show_settings_title(services: Services) -> None:
    """Show the heading, and the stored entries that can't be used."""
    show_title(words.SETTINGS_PAGE, words.SETTINGS_INTRO)
    for problem in services.settings.problems(principal()):
        show_problem(problem, severe=False)


def show_section(heading: str, note: str) -> None:
    """Show the heading of a section and a note below it."""
    st.subheader(heading, anchor=False)
    st.caption(note)


def show_result(services: Services, section: str) -> None:
    """Show what became of the last change if it was made in this section, with a button to undo it.

    It is next to the form, because the page keeps its scroll position.
    """
    last, text = st.session_state.get(NOTE, ("", ""))
    if last != section:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f'<p role="status">{escape(text)}</p>', width="content")
        if CHANGE in st.session_state:
            args = (services, section)
            st.button(words.UNDO, on_click=_undo, args=args, icon=":material/undo:")


def text_field(value: SettingValue, placeholder: str = "") -> Changes:
    """Show a text input; an empty one stands for the default."""
    text = st.text_input(
        label_of(value),
        value.value or "",
        placeholder=placeholder,
        disabled=value.is_fixed,
        help=help_of(value),
        key=form_key(value.name),
    )
    return change_of(value, text.strip() or None)


def secret_field(value: SettingValue) -> Changes:
    """Show an input for a secret that is never shown again, and a switch to remove a stored one."""
    text = st.text_input(
        label_of(value),
        type="password",
        placeholder=words.KEY_SET if value.value else words.KEY_NOT_SET,
        autocomplete="off",
        disabled=value.is_fixed,
        help=help_of(value),
        key=form_key(value.name),
    )
    remove = value.origin is Origin.STORED and st.toggle(
        words.KEY_REMOVE, key=form_key(f"remove-{value.name}")
    )
    if text.strip():
        return {value.name: text.strip()}
    return {value.name: None} if remove else {}


def choice_field(value: SettingValue, options: Sequence[str], names: Mapping[str, str]) -> Changes:
    """Show a choice of `options`, by their `names`."""
    choice = st.selectbox(
        label_of(value),
        options,
        index=options.index(value.value),
        format_func=names.__getitem__,
        disabled=value.is_fixed,
        help=help_of(value),
        key=form_key(value.name),
    )
    return change_of(value, choice)


def change_of(value: SettingValue, entered: Any) -> Changes:
    """The change, if the input differs from the current value and may be stored."""
    return {} if value.is_fixed or entered == value.value else {value.name: entered}


def label_of(value: SettingValue) -> str:
    """The label, which names the variable if the environment sets the value."""
    label: str = words.SETTING_LABELS[value.name]
    if not value.is_fixed:
        return label
    return str(words.SETTING_FIXED.format(label=label, variable=value.variable))


def help_of(value: SettingValue) -> str | None:
    """The explanation of the setting, if it needs one."""
    return words.SETTING_HELP.get(value.name)


def reset_changes(values: Iterable[SettingValue]) -> Changes:
    """The changes that reset the stored ones of these settings."""
    return {value.name: None for value in values if value.origin is Origin.STORED}


def save(services: Services, section: str, changes: Changes) -> None:
    """Store the changes and run the page again, or show why they can't be stored."""
    try:
        change = services.settings.change(principal(), changes) if changes else None
    except AppError as error:
        show_error(error)
        st.session_state.pop(NOTE, None)
        return
    st.session_state.pop(CHANGE, None)
    if change is not None:
        st.session_state[CHANGE] = change
    _renew(section, words.SETTINGS_SAVED if changes else words.SETTINGS_UNCHANGED)
    st.rerun()


def _undo(services: Services, section: str) -> None:
    try:
        services.settings.undo(principal(), st.session_state[CHANGE])
    except AppError as error:
        st.session_state[NOTE] = (section, words.translated(str(error)))
        return
    del st.session_state[CHANGE]
    _renew(section, words.SETTINGS_UNDONE)


def _renew(section: str, note: str) -> None:
    st.session_state[NOTE] = (section, note)
    renew_forms()


NOTICES, PROBLEMS = Notices("index-rebuild-notices"), Notices("index-rebuild-problems")


def _offer_rebuild(services: Services) -> None:
    """Show that the index needs a rebuild, with a button, and perform it when it is clicked."""
    NOTICES.show()
    for problem in PROBLEMS.lines():
        show_problem(problem, severe=False)
    message = services.maintenance.status(principal()).message
    if not message:
        return
    show_problem(message, severe=False)
    if st.button(words.REBUILD_INDEX, key="rebuild-index", icon=":material/refresh:"):
        st.caption(words.REBUILD_NOTE)
        _rebuild(services)


@show_errors()
def _rebuild(services: Services) -> None:
    """Rebuild the index; any click reruns the page, which stops this at the next progress."""
    bar = st.progress(0.0)

    def show(progress: Progress) -> None:
        text = words.REBUILDING.format(done=progress.done, total=progress.total)
        bar.progress(progress.share, text)

    st.button(words.REBUILD_STOP, key="stop-rebuild", icon=":material/stop:")
    report = services.maintenance.reindex(principal(), on_progress=show)
    passages = services.maintenance.status(principal()).passages
    NOTICES.say(words.REBUILT.format(passages=words.count(words.PASSAGES, passages)))
    if report.problem:
        reason = words.translated(report.problem)
        PROBLEMS.say(words.REBUILD_PROBLEM.format(reason=reason))
    st.rerun()


def show_embedding_settings(services: Services, values: Values) -> None:
    """Show the embedding; the provider decides which fields apply."""
    names = ("embedding_provider", "embedding_model", "embedding_base_url", "embedding_api_key")
    show_section(words.EMBEDDING_SECTION, words.EMBEDDING_NOTE)
    _offer_rebuild(services)
    provider = values["embedding_provider"]
    # Outside the form, because each change reruns the page.
    choice = choice_field(provider, PROVIDERS, words.EMBEDDING_PROVIDERS)
    uses_server = choice.get(provider.name, provider.value) == SERVER_PROVIDER
    with _form(services, "embedding", [values[name] for name in names]) as changes:
        changes |= choice | text_field(values["embedding_model"], words.EMBEDDING_DEFAULT)
        if uses_server:
            changes |= text_field(values["embedding_base_url"], words.AS_CHAT_ENDPOINT)
            changes |= secret_field(values["embedding_api_key"])


def show_language_settings(services: Services, values: Values) -> None:
    """Show the language of the pages, and what decides between light and dark."""
    show_section(words.APPEARANCE_SECTION, words.THEME_NOTE)
    value = values["language"]
    with _form(services, "language", [value]) as changes:
        changes |= choice_field(value, LANGUAGES, words.INTERFACE_LANGUAGES)


def show_ocr_settings(services: Services, values: Values) -> None:
    """Show the languages of text in pictures."""
    show_section(words.OCR_SECTION, words.OCR_NOTE)
    value = values["ocr_languages"]
    with _form(services, "ocr", [value]) as changes:
        changes |= text_field(value)


def show_retention_settings(services: Services, values: Values) -> None:
    """Show how long deleted conversations are retained."""
    show_section(words.RETENTION_SECTION, words.RETENTION_NOTE)
    value = values["deleted_retention_days"]
    key, is_fixed = form_key(value.name), value.is_fixed
    with _form(services, "retention", [value]) as changes:
        days = st.number_input(
            label_of(value), 1, MOST_DAYS, value.value, disabled=is_fixed, key=key
        )
        changes |= change_of(value, days)


@contextmanager
def _form(services: Services, name: str, values: Sequence[SettingValue]) -> Iterator[Changes]:
    """Show the fields of the block in a form, and store the changes it adds when it is saved."""
    changes: Changes = {}
    if all(value.is_fixed for value in values):
        yield changes
        return
    with st.form(form_key(name)):
        yield changes
        with st.container(horizontal=True):
            saves = st.form_submit_button(words.SAVE_SETTINGS, key=form_key(f"save-{name}"))
            resets = st.form_submit_button(words.RESET_SETTINGS, key=form_key(f"reset-{name}"))
    if saves or resets:
        save(services, name, changes if saves else reset_changes(values))
    show_result(services, name)


CHAT_SETTINGS = ("openai_base_url", "openai_api_key", "chat_model")
LISTED_MODELS = "settings_models"  # the endpoint that was listed last, and its models
CHAT = "chat"
SHOWN_REPLY_CHARS = 400


def show_chat_settings(services: Services, values: Values) -> None:
    """Show the chat model, and perform the action of the clicked button."""
    show_section(words.CHAT_SECTION, words.CHAT_NOTE)
    with st.form(form_key(CHAT)):
        changes = text_field(values["openai_base_url"], words.ENDPOINT_DEFAULT)
        endpoint = _endpoint(values, changes)
        changes |= secret_field(values["openai_api_key"])
        changes |= _model_field(values["chat_model"], _listed_models(endpoint))
        with st.container(horizontal=True):
            key = form_key("save")
            saves = st.form_submit_button(words.SAVE_SETTINGS, type="primary", key=key)
            tests = st.form_submit_button(words.TEST_MODEL, icon=":material/network_check:")
            lists = st.form_submit_button(words.LIST_MODELS, icon=":material/list:")
            resets = st.form_submit_button(words.RESET_SETTINGS, key=form_key("reset-chat"))
    if saves:
        save(services, CHAT, changes)
    elif tests:
        _test(services, changes)
    elif lists:
        _list_models(services, changes, endpoint)
    elif resets:
        save(services, CHAT, reset_changes(values[name] for name in CHAT_SETTINGS))
    else:
        show_result(services, CHAT)


def _endpoint(values: Values, changes: Changes) -> str:
    name = "openai_base_url"
    return changes.get(name, values[name].value) or ""


def _listed_models(endpoint: str) -> list[str]:
    """The models of the endpoint, if it was the last one listed."""
    listed_endpoint, models = st.session_state.get(LISTED_MODELS, ("", []))
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


@show_errors()
def _test(services: Services, changes: Changes) -> None:
    with st.spinner(words.TESTING_MODEL):
        test = services.settings.test_chat(principal(), changes)
    reply = " ".join(test.reply.split())[:SHOWN_REPLY_CHARS]
    text = words.MODEL_REPLIED.format(model=test.model, seconds=f"{test.seconds:.1f}", reply=reply)
    st.html(f'<div class="fn-seen" role="status"><p>{escape(text)}</p></div>')


@show_errors()
def _list_models(services: Services, changes: Changes, endpoint: str) -> None:
    st.session_state.pop(LISTED_MODELS, None)
    models = services.settings.chat_models(principal(), changes)
    st.session_state[LISTED_MODELS] = (endpoint, models)
    st.rerun()
