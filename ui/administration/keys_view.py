"""API keys: the list, the form for a new one, and the revocation."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import streamlit as st

from bootstrap import Services
from domain import ApiKey, ApiScope, Principal
from services.api_key_service import MAX_LIFETIME, NewApiKey
from ui.administration.administration_page import tell
from ui.administration.person_choice import choose_person
from ui.administration.reader_texts import person_name
from ui.shared.confirmation import is_confirmed
from ui.shared.copying import allow_copying, show_copy_button
from ui.shared.frame import (
    form_key,
    offset_of,
    principal,
    renew_forms,
    show_errors,
    show_pages,
)
from ui.shared.row_selection import select_row
from ui.shared.safe_html import escape, literal
from ui.text import words
from ui.text.reader_language import here, now, table_format

ROWS, PAGE, REVOKING = 50, "keys-page", "key_revoking"
_DEFAULT_DAYS = 90


def show_keys(services: Services) -> None:
    """Show the form for a new key, and the keys, the newest first."""
    allow_copying()
    if services.sign_in is not None:
        st.caption(words.API_KEYS_NOTE)
    with st.expander(words.KEY_CREATE, icon=":material/add:", key="new-key"):
        _show_form(services)
    keys = list(reversed(services.api_keys.list(principal())))
    if not keys:
        st.caption(words.NO_KEYS)
        return
    offset = offset_of(PAGE, ROWS)
    chosen = _select_key(services, keys[offset : offset + ROWS], f"keys-{offset}")
    show_pages(len(keys), ROWS, PAGE)
    if chosen:
        _show_revocation(services, chosen)
    else:
        st.caption(words.CHOOSE_KEY_ROW)


def _show_form(services: Services) -> None:
    owner = principal()
    if services.sign_in is not None:
        account = choose_person(services, "key", words.KEY_PERSON)
        owner = account.principal if account else Principal("")
    today = now().date()
    with st.form(form_key("new-key"), border=False):
        name = st.text_input(words.KEY_NAME, placeholder=words.KEY_NAME_PLACEHOLDER)
        scopes = st.multiselect(
            words.KEY_SCOPES,
            list(ApiScope),
            default=[ApiScope.READ, ApiScope.ASK],
            format_func=words.KEY_SCOPE_NAMES.__getitem__,
        )
        groups = _show_groups(services, owner) if services.sign_in is not None else []
        last = st.date_input(
            words.KEY_EXPIRES,
            today + timedelta(days=_DEFAULT_DAYS),
            min_value=today,
            max_value=today + MAX_LIFETIME - timedelta(days=1),
            help=words.KEY_EXPIRES_HELP,
        )
        sent = st.form_submit_button(words.KEY_CREATE_NOW, type="primary")
    if sent:
        with show_errors():
            owner = replace(owner, groups=frozenset(groups))
            lifetime = _lifetime(last) if last else None
            new = services.api_keys.create(principal(), owner, name, scopes, lifetime)
            renew_forms()
            _show_secret(new)


def _show_groups(services: Services, owner: Principal) -> list[str]:
    known = services.groups.names(principal())
    return st.multiselect(
        words.KEY_GROUPS,
        known,
        default=[one for one in known if one in owner.groups],
        accept_new_options=True,
        placeholder=words.KEY_GROUPS_PLACEHOLDER,
        help=words.KEY_GROUPS_HELP,
        key=form_key(f"key-groups-{owner.user_id}"),
    )


def _lifetime(last: date) -> timedelta:
    """The time until the end of that day in the reader's time zone."""
    current = now()
    end = datetime.combine(last + timedelta(days=1), time(), tzinfo=current.tzinfo)
    return end - current


def _show_secret(new: NewApiKey) -> None:
    """Show the secret in a dialog, which is the only place that ever has it."""
    title = words.KEY_CREATED.format(name=literal(new.key.name))
    st.dialog(title, on_dismiss="rerun")(_show_once)(new.secret)


def _show_once(secret: str) -> None:
    st.write(words.SHOWN_ONCE)
    st.html(f'<code class="fn-secret">{escape(secret)}</code>')
    with st.container(horizontal=True, vertical_alignment="center"):
        show_copy_button(secret)
        if st.button(words.SHOWN_ONCE_DONE, type="primary"):
            st.rerun()


def _select_key(services: Services, keys: Sequence[ApiKey], table: str) -> ApiKey | None:
    moment = st.column_config.DatetimeColumn(format=table_format())
    return select_row(
        table,
        {one.id: one for one in keys},
        _columns(services, keys),
        {
            words.KEY_NAME: st.column_config.TextColumn(width="medium"),
            words.KEY_CREATED_AT: moment,
            words.KEY_USED: moment,
            words.KEY_UNTIL: moment,
        },
        alt=words.TABLE_OF_KEYS,
    )


def _columns(services: Services, keys: Sequence[ApiKey]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        words.KEY_NAME: [one.name for one in keys],
        words.KEY_STATE: [words.KEY_STATES[_state(one)] for one in keys],
    }
    if services.sign_in is not None:
        columns[words.KEY_PERSON] = _owners(services, keys)
        columns[words.KEY_GROUPS] = [", ".join(sorted(one.groups)) for one in keys]
    return columns | {
        words.KEY_SCOPES: [", ".join(sorted(one.scopes)) for one in keys],
        words.KEY_UNTIL: [one.expires_at and here(one.expires_at) for one in keys],
        words.KEY_USED: [one.used_at and here(one.used_at) for one in keys],
        words.KEY_CREATED_AT: [here(one.created_at) for one in keys],
    }


def _owners(services: Services, keys: Sequence[ApiKey]) -> list[str]:
    accounts = services.accounts.with_ids(principal(), [one.user_id for one in keys])
    names = {id_: person_name(one) for id_, one in accounts.items()}
    return [names.get(one.user_id, one.user_id) for one in keys]


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.has_expired(datetime.now(UTC)) else "valid"


def _show_revocation(services: Services, key: ApiKey) -> None:
    if key.revoked_at is None and st.button(words.KEY_REVOKE, icon=":material/key_off:"):
        st.session_state[REVOKING] = key.id
    if st.session_state.get(REVOKING) != key.id:
        return
    if is_confirmed(
        "key-revocation",
        REVOKING,
        words.KEY_REVOKE_ASK.format(name=key.name),
        hint=words.KEY_REVOKE_MEANS,
        agree=words.KEY_REVOKE_NOW,
        cancel=words.CHANGE_CANCEL,
        of=key.id,
    ):
        with show_errors():
            services.api_keys.revoke(principal(), key.id)
            tell(words.KEY_REVOKED.format(name=key.name))
