"""The people who have signed in: their roles, groups, and whether they may sign in."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from bootstrap import Services
from domain import Account, Role
from ui.administration.administration_page import tell
from ui.administration.reader_texts import person_name
from ui.shared.confirmation import is_confirmed
from ui.shared.frame import offset_of, principal, show_errors, show_pager
from ui.shared.row_selection import digest, select_row
from ui.shared.safe_html import escape, strong_html
from ui.text import words
from ui.text.reader_language import ago, here, table_format

ROWS = 50
WORDS, PAGE, DISABLING = "people_words", "people-page", "people_disabling"


def show_people(services: Services) -> None:
    """Show the matching people, page by page, and the changes of the selected one."""
    text = st.text_input(
        words.FIND_PEOPLE,
        key=WORDS,
        placeholder=words.FIND_PEOPLE_PLACEHOLDER,
        icon=":material/search:",
    )
    key = f"{PAGE}-{digest(text)}"
    offset = offset_of(key, ROWS)
    accounts, total = services.accounts.page(principal(), text, limit=ROWS, offset=offset)
    if not accounts:
        st.caption(words.NO_PEOPLE_MATCH if text.strip() else words.NO_PEOPLE)
        return
    chosen = _select_person(accounts, f"people-{key}-{offset}")
    show_pager(offset, len(accounts), total, ROWS, key)
    if chosen:
        _show_person(services, chosen)
    else:
        st.caption(words.CHOOSE_PERSON_ROW)


def _select_person(accounts: Sequence[Account], table: str) -> Account | None:
    return select_row(
        table,
        {one.id: one for one in accounts},
        _columns(accounts),
        {
            words.PERSON_NAME: st.column_config.TextColumn(width="medium"),
            words.PERSON_EMAIL: st.column_config.TextColumn(width="medium"),
            words.PERSON_SEEN: st.column_config.DatetimeColumn(format=table_format()),
        },
        alt=words.TABLE_OF_PEOPLE,
    )


def _columns(accounts: Sequence[Account]) -> dict[str, list[Any]]:
    state = {True: words.PERSON_DISABLED, False: words.PERSON_ENABLED}
    return {
        words.PERSON_NAME: [one.name for one in accounts],
        words.PERSON_EMAIL: [one.email for one in accounts],
        words.PERSON_ROLE: [words.ROLE_NAMES[one.role] for one in accounts],
        words.PERSON_GROUPS: [", ".join(sorted(one.groups)) for one in accounts],
        words.PERSON_SEEN: [here(one.seen_at) for one in accounts],
        words.PERSON_STATE: [state[one.disabled_at is not None] for one in accounts],
    }


def _show_person(services: Services, account: Account) -> None:
    with st.container(border=True, key="administered-person"):
        figures = words.PERSON_FIGURES.format(
            signed_in=ago(account.signed_in_at), seen=ago(account.seen_at)
        )
        st.html(f"<p>{strong_html(person_name(account))}<br>{escape(figures)}</p>")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _show_role(services, account)
            _show_switch(services, account)
    if st.session_state.get(DISABLING) == account.id:
        _confirm_disabling(services, account)


def _show_role(services: Services, account: Account) -> None:
    role = st.selectbox(
        words.PERSON_ROLE,
        list(Role),
        index=list(Role).index(account.role),
        format_func=words.ROLE_NAMES.__getitem__,
        help=words.ROLE_HELP,
        key=f"role-{account.id}-{account.role}",
        width=220,
    )
    if st.button(words.ROLE_SAVE, disabled=role == account.role, type="primary") and role:
        with show_errors():
            services.accounts.set_role(principal(), account.id, role)
            name = words.ROLE_NAMES[role]
            tell(words.ROLE_SAVED.format(name=person_name(account), role=name))


def _show_switch(services: Services, account: Account) -> None:
    if account.disabled_at is None:
        if st.button(words.ACCOUNT_DISABLE, icon=":material/block:"):
            st.session_state[DISABLING] = account.id
    elif st.button(words.ACCOUNT_ENABLE, icon=":material/check:"):
        with show_errors():
            services.accounts.enable(principal(), account.id)
            tell(words.ACCOUNT_ENABLED.format(name=person_name(account)))


def _confirm_disabling(services: Services, account: Account) -> None:
    if is_confirmed(
        "person-disabling",
        DISABLING,
        words.ACCOUNT_DISABLE_ASK.format(name=person_name(account)),
        hint=words.ACCOUNT_DISABLE_MEANS,
        agree=words.ACCOUNT_DISABLE_NOW,
        cancel=words.CHANGE_CANCEL,
        of=account.id,
    ):
        with show_errors():
            services.accounts.disable(principal(), account.id)
            tell(words.ACCOUNT_DISABLED.format(name=person_name(account)))
