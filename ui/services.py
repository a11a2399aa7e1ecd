"""The services as the pages see them: built once for the process."""

import gc
import threading

import streamlit as st

import bootstrap
from domain import LOCAL_USER, Principal

WARM_UP_AFTER_S = 1.0  # the page comes first


@st.cache_resource(show_spinner=False)
def services() -> bootstrap.Services:
    """The services, wired by the settings; an error in these ends the page with its message."""
    built = bootstrap.build_services()
    timer = threading.Timer(WARM_UP_AFTER_S, _warm_up, [built])
    timer.daemon = True
    timer.start()
    return built


def _warm_up(built: bootstrap.Services) -> None:
    """Load what the first question needs, and keep the garbage collector off what is loaded.

    Streamlit collects after each run of a page, before the browser hears of the run's end. To
    look through every module and model takes longer than most runs.
    """
    built.warm_up()
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


def principal() -> Principal:
    """Who is asking: until there is sign-in, the one local user."""
    return LOCAL_USER
