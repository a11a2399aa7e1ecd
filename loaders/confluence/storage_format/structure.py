"""Task lists, and what Cloud's editor keeps in its own form beside HTML."""

from loaders.confluence.storage_format.elements import Element, ac, rename, say, words
from loaders.confluence.storage_format.links import Links
from loaders.confluence.storage_format.panels import PANELS, label
from loaders.confluence.storage_format.parameters import told

# What Cloud itself writes as the fallback of an app that gives none.
_NO_FALLBACK = ("We don't have a way to export", "We don’t have a way to export")
_AROUND = (ac("adf-content"), ac("adf-extension"))


def convert_task_list(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """A list of tasks; a list within it belongs to the task before it."""
    rename(element, "ul")
    for child in list(element):
        before = child.getprevious()
        if child.tag == "ul" and before is not None and before.tag == "li":
            child.tail = ""
            before.append(child)


def convert_task(element: Element, links: Links) -> None:
    """A task as a list item after its box. Who is to do it, and when, its body says."""
    is_done = words(element.find(ac("task-status"))) == "complete"
    body = element.find(ac("task-body"))
    say(element, "[x] " if is_done else "[ ] ", "li")
    if body is not None:
        body.tail = ""
        element.append(body)
        convert_item(body, links)


def convert_item(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """A list item that begins with a paragraph as one that begins with its text."""
    if len(element) and element[0].tag == "p" and not (element.text or "").strip():
        element.text = ""
        rename(element[0], "span")


def convert_extension(element: Element, links: Links) -> None:  # noqa: ARG001  as all converters
    """What only Cloud's editor knows: the HTML it gives for others, its parts, or its words."""
    settings = _settings(element)
    kept = _kept(element)
    said = [] if kept else told(settings)
    say(element, " ".join(said), "div")
    for part in kept:
        part.tail = ""
        rename(part, "div")
        element.append(part)
    if kept:
        label(element, PANELS.get(settings.get("panel-type", ""), ""), "")


def _kept(element: Element) -> list[Element]:
    fallback = element.find(ac("adf-fallback"))
    if (text := words(fallback)) and not text.startswith(_NO_FALLBACK):
        return [fallback]
    contents = element.findall(f".//{ac('adf-content')}")
    return [each for each in contents if next(each.iterancestors(*_AROUND)) is element]


def _settings(element: Element) -> dict[str, str]:
    names = (ac("adf-attribute"), ac("adf-parameter"))
    return {each.get("key", ""): words(each) for each in element.iter(*names) if not len(each)}
