"""Bringing into sight what a page was opened for."""

import json

import streamlit as st

# Again while the page is still being laid out, until the reader does something.
_SCRIPT = """<script data-of="{of}">
(() => {{
  const show = () => [...document.querySelectorAll({what})].at({which})?.scrollIntoView({{block: {to}}});
  show();
  const again = setInterval(show, 100);
  const leave = () => clearInterval(again);
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(act, leave, {{once: true, capture: true}});
  setTimeout(leave, 3000);
}})();
</script>"""  # noqa: E501


def scroll_to(what: str, *, which: int = 0, to: str = "nearest", of: str = "") -> None:
    """Scroll to an element, once for each `of`; nothing happens where there is none.

    `what` is a selector, `which` the place among those it selects, `to` where in the window
    the element comes: "start", or "nearest" for no farther than it takes to see it.
    """
    script = _SCRIPT.format(of=of, what=json.dumps(what), which=which, to=json.dumps(to))
    st.html(script, unsafe_allow_javascript=True)
