"""The services as the pages see them: built once for the process."""

import threading

import streamlit as st

import bootstrap
from domain import LOCAL_USER, Principal

WARM_UP_AFTER_S = 1.0  # the page comes first


@st.cache_resource(show_spinner=False)
def services() -> bootstrap.Services:
    """The services, wired by the settings; an error in these ends the page with its message."""
    built = bootstrap.build_services()
    timer = threading.Timer(WARM_UP_AFTER_S, built.warm_up)
    timer.daemon = True
    timer.start()
    return built


def principal() -> Principal:
    """Who is asking: until there is sign-in, the one local user."""
    return LOCAL_USER
