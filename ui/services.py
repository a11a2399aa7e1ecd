"""The services as the pages see them: built once for the process."""

import streamlit as st

import bootstrap
from domain import LOCAL_USER, Principal


@st.cache_resource(show_spinner=False)
def services() -> bootstrap.Services:
    """The services, wired by the settings; an error in these ends the page with its message."""
    return bootstrap.build_services()


def principal() -> Principal:
    """Who is asking: until there is sign-in, the one local user."""
    return LOCAL_USER
