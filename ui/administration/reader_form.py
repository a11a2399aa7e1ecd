"""The form that restricts, opens, or hides a source or a collection."""

import streamlit as st

from bootstrap import Services
from domain.people import email_reader, group_reader, user_reader
from services.reader_names import Readers
from ui.administration.administration_page import tell
from ui.administration.reader_texts import (
    accounts_among,
    reader_name,
    readers_in_words,
)
from ui.shared.frame import principal, show_errors, show_problem
from ui.shared.row_selection import digest
from ui.text import words
from ui.text.reader_language import number

EVERYONE, SOME, NOBODY = "everyone", "some", "nobody"
_PEOPLE = 500


def show_reader_form(
    services: Services, is_source: bool, id_: str, name: str, readers: Readers | None
) -> None:
    """Show who may read a source, or a collection with its name as the id, and store changes."""
    key = digest((is_source, id_, readers))
    st.html(f"<h4>{words.READERS_CHANGE}</h4>")
    choice = st.radio(
        words.READERS_OF,
        [EVERYONE, SOME, NOBODY],
        index=[EVERYONE, SOME, NOBODY].index(_choice_of(readers)),
        format_func=words.READERS_CHOICES.__getitem__,
        key=f"readers-choice-{key}",
    )
    entered = _show_readers(services, readers or (), key) if choice == SOME else []
    if not st.button(words.READERS_SAVE, type="primary", key=f"readers-save-{key}"):
        return
    if choice == SOME and not entered:
        show_problem(words.READERS_MISSING)
        return
    with show_errors():
        new = None if choice == EVERYONE else entered
        service = services.permissions
        change = service.set_readers if is_source else service.set_collection_readers
        stored = change(principal(), id_, new)
        shown = readers_in_words(stored, accounts_among(services, stored or ()))
        tell(words.READERS_SAVED.format(name=name, readers=shown))


def _choice_of(readers: Readers | None) -> str:
    if readers is None:
        return EVERYONE
    return SOME if readers else NOBODY


def _show_readers(services: Services, readers: Readers, key: str) -> list[str]:
    people, total = services.accounts.page(principal(), limit=_PEOPLE)
    accounts = {one.id: one for one in people} | dict(accounts_among(services, readers))
    groups = map(group_reader, services.groups.names(principal()))
    options = dict.fromkeys([*readers, *groups, *(user_reader(one.id) for one in people)])
    names = {one: reader_name(one, accounts) for one in options}
    entered = st.multiselect(
        words.READERS_SOME,
        list(options),
        default=list(readers),
        format_func=lambda one: names.get(one, one),
        accept_new_options=True,
        placeholder=words.READERS_PLACEHOLDER,
        help=words.READERS_HELP,
        key=f"readers-{key}",
    )
    if total > len(people):
        shown = number(len(people))
        st.caption(words.READERS_FIRST_PEOPLE.format(shown=shown, total=number(total)))
    return [_as_reader(one) for one in entered]


def _as_reader(text: str) -> str:
    """The reader that a person has entered: an e-mail address needs no kind before it."""
    return email_reader(text) if "@" in text and ":" not in text else text
