"""Boxes of text: their kind and title stand before what they hold."""

from loaders.confluence.storage_format.elements import Element, insert, rename, say
from loaders.confluence.storage_format.macro import Macro

PANELS = {
    "info": "Info",
    "note": "Note",
    "warning": "Warning",
    "error": "Error",
    "tip": "Tip",
    "success": "Success",
}
"""Kinds of panels, which a page shows by colour and icon only, and the word for each."""


def keep_body(macro: Macro, kind: str = "") -> None:
    """The macro's rich body below its kind and title."""
    keep_bare_body(macro)
    label(macro.element, kind, macro.parameter("title"))


def keep_bare_body(macro: Macro) -> None:
    """The macro's rich body only: its parameters are about how it looks, or what it looks for."""
    say(macro.element, "", "div")
    if macro.rich is not None:
        macro.rich.tail = ""
        rename(macro.rich, "div")
        macro.element.append(macro.rich)


def label(element: Element, kind: str, title: str) -> None:
    """Set a panel's kind and title before its text: a title as a paragraph of its own.

    A kind without a title opens the first paragraph, as people would say it: "Note: ...".
    """
    if title:
        insert(element, "p", f"{kind}: {title}" if kind else title)
    elif kind and (first := _opening_paragraph(element)) is not None:
        first.text = f"{kind}: {(first.text or '').lstrip()}"
    elif kind:
        insert(element, "p", f"{kind}:")


def _opening_paragraph(element: Element) -> Element | None:
    """The paragraph that the element begins with, however many blocks are around it."""
    while len(element) and not (element.text or "").strip():
        element = element[0]
        if element.tag == "p":
            return element
        if element.tag != "div":
            return None
    return None
