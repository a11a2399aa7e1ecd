"""Scripts that the pages run in the browser: the files of `ui/script`, and no others.

Their text is the same for everybody, so that the content security policy can allow it by its
digest. What differs comes as attributes of the element.
"""

from functools import cache
from pathlib import Path

import streamlit as st

from ui.html import escape

FOLDER = Path(__file__).parent / "script"


def run_script(name: str, **values: str) -> None:
    """Run a script, and again whenever one of the values changes.

    It finds the values in `document.currentScript.dataset`.
    """
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in values.items())
    st.html(f"<script{data}>{script_text(name)}</script>", unsafe_allow_javascript=True)


@cache
def script_text(name: str) -> str:
    """The text of a script, as it stands between its tags."""
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


def script_names() -> list[str]:
    """The names of all scripts."""
    return sorted(file.stem for file in FOLDER.glob("*.js"))
