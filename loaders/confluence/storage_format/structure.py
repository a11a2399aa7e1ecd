"""Task lists, and what Cloud's editor keeps in its own form beside HTML."""

from loaders.confluence.storage_format.elements import Element, ac, rename, say, words
from loaders.confluence.storage_format.links import Links
from loaders.confluence.storage_format.panels import PANELS, label


def convert_task_list(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """A list of tasks; a list within it belongs to the task before it."""
    rename(element, "ul")
    for child in list(element):
        before = child.getprevious()
        if child.tag == "ul" and before is not None and before.tag == "li":
            child.tail = ""
            before.append(child)


def convert_task(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """A task as a list item after its box. Who is to do it, and when, its body says."""
    is_done = words(element.find(ac("task-status"))) == "complete"
    body = element.find(ac("task-body"))
    say(element, "[x] " if is_done else "[ ] ", "li")
    if body is not None:
        body.tail = ""
        element.append(body)
        _join_first_paragraph(body)


def _join_first_paragraph(body: Element) -> None:
    if len(body) and body[0].tag == "p" and not (body.text or "").strip():
        body.text = ""
        rename(body[0], "span")


def convert_extension(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """What only Cloud's editor knows, by the HTML that it gives for others, or by its parts."""
    fallback = element.find(ac("adf-fallback"))
    kinds = element.iterfind(f".//{ac('adf-attribute')}[@key='panel-type']")
    kind = PANELS.get(words(next(kinds, None)), "")
    kept = [fallback] if words(fallback) else element.findall(f".//{ac('adf-content')}")
    outer = [part for part in kept if next(part.iterancestors(ac("adf-content")), None) is None]
    del element[:]
    element.text = ""
    rename(element, "div")
    element.extend(outer)
    for part in outer:
        rename(part, "div")
        part.tail = ""
    label(element, kind, "")
