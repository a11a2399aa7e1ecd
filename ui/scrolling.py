"""Bringing into sight what a page was opened for."""

from ui.scripts import run_script


def scroll_to(what: str, *, which: int = 0, to: str = "nearest", of: str = "") -> None:
    """Scroll to an element, once for each `of`; nothing happens where there is none.

    `what` is a selector, `which` the place among those it selects, `to` where in the window
    the element comes: "start", or "nearest" for no farther than it takes to see it.
    """
    run_script("scrolling", what=what, which=str(which), to=to, of=of)
