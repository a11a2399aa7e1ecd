"""Reading the storage format, which is XML without its head, as elements."""

import re
from html import unescape
from html.entities import html5

from loaders.confluence.storage_format.elements import AC, RI, ROOT, Element, allowed

_CDATA = r"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
_REFERENCE = re.compile(r"&([A-Za-z]\w*);", re.ASCII)
_XML_NAMES = frozenset({"amp", "lt", "gt", "quot", "apos"})
# What begins no tag, reference, comment or CDATA was meant as the character it is.
_LOOSE = re.compile(
    rf"{_CDATA}|(?P<loose>&(?!#\d+;|#[xX][\dA-Fa-f]+;|[A-Za-z]\w*;)|<(?!/?[A-Za-z]|!--|\?))",
    re.DOTALL | re.ASCII,
)
_TAG_OR_CDATA = re.compile(rf"{_CDATA}|<[^<>]*>|(?P<text>[^<]+|<)", re.DOTALL)
_END = "footnote-end"


def parse(storage: str) -> Element | None:
    """The elements under one root; None where they are nested too deeply for the parser.

    Named characters are those of HTML, an unknown one stays as written. Nothing but the text
    itself is read: entities that it declares are not expanded, and none from elsewhere.
    """
    from lxml import etree  # type: ignore[import-untyped]

    text = _LOOSE.sub(_as_character, allowed(storage))
    parser = etree.XMLParser(
        recover=True,
        resolve_entities="internal",  # those declared by us: a page can't declare any
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,  # long texts and 2,048 levels instead of 256
    )
    root = etree.fromstring(_document(text), parser)
    end = None if root is None else root.find(f".//{_END}")
    if end is None:  # the parser gave up before it
        return None
    end.tag = "span"
    return root


def plain_text(storage: str) -> str:
    """The text between the tags, and that of code, for what can't be parsed."""
    return "".join(map(_text_of, _TAG_OR_CDATA.finditer(storage)))


def _document(text: str) -> str:
    names = sorted(set(_REFERENCE.findall(text)) - _XML_NAMES)
    declared = "".join(f'<!ENTITY {name} "{_value(name)}">' for name in names)
    head = f"<!DOCTYPE {ROOT} [{declared}]>"
    return f'{head}<{ROOT} xmlns:ac="{AC}" xmlns:ri="{RI}">{text}<{_END}/></{ROOT}>'


def _value(name: str) -> str:
    characters = html5.get(f"{name};")
    if characters is None:
        return f"&#38;#38;{name};"
    return "".join(f"&#38;#{ord(character)};" for character in characters)


def _as_character(match: re.Match[str]) -> str:
    if match["loose"]:
        return "&amp;" if match["loose"] == "&" else "&lt;"
    return match[0] if match[0].endswith("]]>") else f"{match[0]}]]>"


def _text_of(match: re.Match[str]) -> str:
    if match["cdata"] is not None:
        return match["cdata"]
    return unescape(match["text"]) if match["text"] else "\n"
