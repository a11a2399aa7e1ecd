"""A macro as its author filled it in."""

from dataclasses import dataclass
from urllib.parse import unquote

from loaders.confluence.storage_format.elements import Element, ac, words
from loaders.confluence.storage_format.links import Links, markdown_link, referred

_URI_ENCODED = "--uriencoded--"


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro in its place: its name in lower case, its parameters by name, and its body.

    `parameters` holds the words of each; what a parameter names (a page, a file) is a link.
    The unnamed parameter has the name "". `plain` is None where there is no plain body.
    """

    element: Element
    name: str
    parameters: dict[str, str]
    rich: Element | None
    plain: str | None
    links: Links

    def parameter(self, *names: str) -> str:
        """The first of these that says something; empty where none does."""
        return next((text for name in names if (text := self.parameters.get(name))), "")


def read_macro(element: Element, links: Links) -> Macro:
    """The macro that an `ac:structured-macro` or `ac:macro` element is."""
    plain = element.find(ac("plain-text-body"))
    parameters = [*element.iterfind(ac("default-parameter")), *element.iterfind(ac("parameter"))]
    return Macro(
        element=element,
        name=element.get(ac("name"), "").lower(),
        parameters={each.get(ac("name"), ""): _said(each, links) for each in parameters},
        rich=element.find(ac("rich-text-body")),
        plain=None if plain is None else "".join(plain.itertext()),
        links=links,
    )


def _said(parameter: Element, links: Links) -> str:
    if target := referred(parameter, links):
        return markdown_link(target.text, target.url)
    text = words(parameter)
    return unquote(text.removeprefix(_URI_ENCODED)) if text.startswith(_URI_ENCODED) else text
