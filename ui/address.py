"""What of a page its address names, so that a reload and a link lead there again."""

import streamlit as st


def in_address(name: str) -> str:
    """What the address says of this; nothing where it does not."""
    wish = st.session_state.pop(_wish(name), None)
    if wish is not None:
        _put(name, wish)
    return st.query_params.get(name, "")


def put_into_address(name: str, value: str) -> None:
    """Let the address say this from now on; nothing takes it out.

    It is noted beside the address as well: a place that looks again by itself may ask for the
    page's run with the address of a moment ago, and that is what the run then gets.
    """
    if value != st.query_params.get(name, ""):
        st.session_state[_wish(name)] = value
        _put(name, value)


def _put(name: str, value: str) -> None:
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def _wish(name: str) -> str:
    return f"address-{name}"
