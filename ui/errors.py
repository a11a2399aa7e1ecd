"""How a page shows what went wrong, in the reader's language."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from errors import AppError
from ui import words
from ui.html import escape
from ui.service_text import said


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show an error of ours that ends the page, in the place that the page had come to."""
    try:
        yield
    except AppError as error:
        show_error(error)


def show_error(error: AppError) -> None:
    """Show the message, which is written for people, and whether asking again may help."""
    show_problem(str(error), hint=words.RETRYABLE if error.retryable else "")


def show_problem(message: str, *, hint: str = "", severe: bool = True) -> None:
    """Show plain text as a notice; markup in it is not followed."""
    st.html(problem_html(message, hint=hint, severe=severe))


def problem_html(message: str, *, hint: str = "", severe: bool = True) -> str:
    """The notice that `show_problem` shows."""
    hint_html = f" <span>{escape(hint)}</span>" if hint else ""
    kind = "fn-error" if severe else "fn-warning"
    return f'<div class="fn-notice {kind}" role="alert">{escape(said(message))}{hint_html}</div>'
