"""The page on which people sign in, and the menu of a person who has."""

from datetime import UTC, datetime
from functools import partial
from io import BytesIO

import streamlit as st

from bootstrap import Services
from domain import Principal
from domain.logs import get_logger
from services.chat.sharing_service import SHARED
from services.sign_in.sign_in_service import ADMINISTRATOR, SignInService
from ui.shared import frame, session
from ui.shared.safe_html import escape, literal, run_script
from ui.text import words

_REASON = "sign-in-refusal"
_log = get_logger("sign_in")


def show_sign_in() -> None:
    """Show only the sign-in, and why an earlier one is not accepted."""
    services = frame.services()
    frame.name_tab(words.SIGN_IN)
    run_script("keep_address", page=frame.opened_page())
    with st.container(key="sign-in", horizontal_alignment="center"):
        frame.show_title(words.APP, words.TAGLINE)
        if reason := session.refusal(services):
            _log_refusal(reason)
            frame.show_problem(reason)
        if ADMINISTRATOR in st.query_params:
            frame.show_problem(words.SIGN_IN_FIRST, severe=False)
        if SHARED in st.query_params:
            frame.show_problem(words.SIGN_IN_TO_READ, severe=False)
        if st.button(words.SIGN_IN, type="primary", icon=":material/login:"):
            with frame.show_errors():
                _go_to_provider(services.sign_in)


def _log_refusal(reason: str) -> None:
    """Log why the session is not accepted, once; nothing in it can be trusted."""
    if st.session_state.get(_REASON) != reason:
        st.session_state[_REASON] = reason
        _log.warning("session refused", reason=reason)


def _go_to_provider(sign_in: SignInService | None) -> None:
    if sign_in:
        sign_in.check_provider()
        st.login()


def show_person() -> None:
    """Show who is signed in, with their role and the way out; nothing without sign-in."""
    services = frame.services()
    account = session.account(services)
    if account is None or services.sign_in is None:
        return
    run_script("return_to_address")
    with (
        st.container(key="person"),
        st.popover(literal(account.name), icon=":material/account_circle:", type="tertiary"),
    ):
        lines = [account.name, account.email, words.ROLE_NAMES[account.role]]
        st.html("".join(f'<p class="fn-person">{escape(line)}</p>' for line in lines if line))
        st.download_button(
            words.EXPORT_MY_DATA,
            partial(_own_data, services, frame.principal(), account.id),  # runs on the click
            "footnote-data.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
        )
        if st.button(words.SIGN_OUT, icon=":material/logout:"):
            services.sign_in.end_session(session.claims(), datetime.now(UTC))
            st.logout()
            st.stop()


def _own_data(services: Services, principal: Principal, account_id: str) -> bytes:
    file = BytesIO()
    services.account_export.write(principal, account_id, file)
    return file.getvalue()


def use_administrator_link() -> None:
    """Make the person an administrator if they opened the link that `serve` printed."""
    token = st.query_params.get(ADMINISTRATOR)
    if not token:
        return
    del st.query_params[ADMINISTRATOR]
    with frame.show_errors():
        if sign_in := frame.services().sign_in:
            sign_in.use_administrator_link(frame.principal(), token, datetime.now(UTC))
            st.toast(words.NOW_ADMINISTRATOR, icon=":material/check:", duration="long")
