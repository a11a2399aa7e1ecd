"""XML of office files, parsed so that it can fetch nothing and grow no larger than it is."""

from collections.abc import Collection, Iterator
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # it has no types


def parse_part(data: bytes) -> Any:
    """The root element of an XML part; entities stay unresolved, comments are left out.

    Raises:
        etree.XMLSyntaxError: It is no well-formed XML, or nested more than 256 deep.
    """
    return etree.fromstring(data, xml_parser())


def xml_parser(*, encoding: str | None = None, recover: bool = False) -> etree.XMLParser:
    """A parser that fetches nothing, leaves entities unresolved, and comments out.

    `encoding` overrules the declared one; with `recover` broken XML is read as far as it goes.
    """
    return etree.XMLParser(
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def local(element: Any) -> str:
    """The element's name without its namespace; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: Any, name: str) -> Any:
    """The first child of that local name; None where there is none."""
    return next((node for node in element if local(node) == name), None)


def attribute(element: Any, name: str) -> str:
    """The value of the attribute of that local name, whatever its namespace; "" without it."""
    return next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


def number(element: Any, name: str, default: int = 1) -> int:
    """The attribute as a whole number from 0 to 99,999; the default where it is none."""
    value = attribute(element, name)
    return int(value) if value.isdecimal() and len(value) < 6 else default


def outermost(element: Any, names: Collection[str]) -> Iterator[Any]:
    """Descendants of these local names that lie in no other of them, in order."""
    for node in element:
        if local(node) in names:
            yield node
        else:
            yield from outermost(node, names)
