"""Copying an answer with the sources it cites."""

import streamlit as st

from domain import Turn
from services.answer_text import plain_answer
from ui import words
from ui.html import escape

# One listener for the page. Only text of attributes is read, and none of it is run.
_SCRIPT = """<script>
if (!window.footnoteCopies) {
  window.footnoteCopies = true;
  const byHand = (text) => {  // pages that are not on https or localhost have no clipboard
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.fn-copy");
    if (!button) return;
    const text = button.dataset.copy;
    if (navigator.clipboard) await navigator.clipboard.writeText(text).catch(() => byHand(text));
    else byHand(text);
    button.classList.add("fn-copied");
    setTimeout(() => button.classList.remove("fn-copied"), 1500);
  });
}
</script>"""


def allow_copying() -> None:
    """Let the copy buttons of this page work."""
    st.html(_SCRIPT, unsafe_allow_javascript=True)


def copy_button(turn: Turn) -> None:
    """Show a button that copies the answer, and below it the sources that it cites."""
    st.html(
        f'<button type="button" class="fn-copy" data-copy="{escape(copied_text(turn))}">'
        f'<span class="fn-before">{escape(words.COPY)}</span>'
        f'<span class="fn-after" role="status">{escape(words.COPIED)}</span></button>',
        width="content",
    )


def copied_text(turn: Turn) -> str:
    """The answer, and a line for each source that it cites."""
    cited = {citation.n for citation in turn.citations}
    lines = [
        f"[{source.n}] {source.name} ({source.location})"
        for source in turn.sources
        if source.n in cited
    ]
    answer = plain_answer(turn.answer)
    return "\n".join([answer, "", *lines]) if lines else answer
