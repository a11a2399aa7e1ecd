"""The person who uses the pages in this browser session."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from bootstrap import Services
from domain import LOCAL_USER, Account, Principal
from domain.errors import SignInError


def claims() -> Mapping[str, Any]:
    """The claims in the cookie of the sign-in, whose signature is valid; empty if there is none."""
    return st.user.to_dict()


def account(services: Services) -> Account | None:
    """The account of the person; None without sign-in.

    Raises:
        SignInError: The person is not signed in, or no longer.
    """
    if services.sign_in is None:
        return None
    return services.sign_in.account_of(claims(), datetime.now(UTC))


def current_principal(services: Services) -> Principal:
    """The principal of the person; the local user without sign-in.

    Raises:
        SignInError: The person is not signed in, or no longer.
    """
    if services.sign_in is None:
        return LOCAL_USER
    return services.sign_in.principal_of(claims(), datetime.now(UTC))


def principal(services: Services) -> Principal:
    """See `current_principal`, but the page runs again, and shows the sign-in, after an error."""
    try:
        return current_principal(services)
    except SignInError:
        st.rerun()


def refusal(services: Services) -> str | None:
    """Why the person must sign in; None if they need not.

    It is "" if they have not tried yet.
    """
    try:
        account(services)
    except SignInError as error:
        return str(error) if claims().get("is_logged_in") else ""
    return None
