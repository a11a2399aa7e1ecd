"""What narrows the list of documents down, and its order."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from domain import DocumentFilter, DocumentOrder
from ui import words
from ui.language import number

if TYPE_CHECKING:
    from services.documents import Contents

WORDS, ORDER = "library_words", "library_order"
SOURCES, COLLECTIONS = "library_sources", "library_collections"
FORMATS, SCRIPTS, WARNED = "library_formats", "library_scripts", "library_warned"
NARROWING = (SOURCES, COLLECTIONS, FORMATS, SCRIPTS, WARNED)


class Wanted(NamedTuple):
    """Which documents are to be listed, and how."""

    filter: DocumentFilter
    order: DocumentOrder


def document_filter(contents: "Contents") -> Wanted:
    """Show what narrows the list down; what is chosen now."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-filter"):
        text = st.text_input(
            words.FIND_DOCUMENTS,
            key=WORDS,
            placeholder=words.FIND_PLACEHOLDER,
            icon=":material/search:",
        )
        order = st.selectbox(
            words.LIBRARY_ORDER,
            list(DocumentOrder),
            key=ORDER,
            format_func=lambda order: words.LIBRARY_ORDERS[order],
            width=230,
        )
        narrowed = any(st.session_state.get(key) for key in NARROWING)
        label = words.LIBRARY_NARROWED if narrowed else words.LIBRARY_NARROW
        panel = st.popover(
            label, icon=":material/filter_alt:", key="library-narrow", on_change="rerun"
        )
    if panel.open:  # not built before: the page opens a tenth of a second sooner
        with panel:
            _show_choices(contents)
    return Wanted(_chosen(text), order or DocumentOrder.TITLE)


def _chosen(text: str) -> DocumentFilter:
    sources, collections, formats, scripts, warned = map(st.session_state.get, NARROWING)
    return DocumentFilter(
        text,
        tuple(sources or ()) or None,
        tuple(collections or ()),
        tuple(formats or ()),
        tuple(scripts or ()),
        bool(warned),
    )


def _show_choices(contents: "Contents") -> None:
    left, right = st.columns(2, gap="medium")
    names = {one.id: one.name for one in contents.sources}
    counts = {one.id: one.documents for one in contents.sources}
    collections: dict[str, int] = {}
    for one in contents.sources:
        collections[one.collection] = collections.get(one.collection, 0) + one.documents
    with left:
        _show_choice(words.BY_SOURCE, SOURCES, counts, names)
        _show_choice(words.BY_FORMAT, FORMATS, contents.formats, {})
    with right:
        _show_choice(words.BY_COLLECTION, COLLECTIONS, collections, {})
        _show_choice(words.BY_LANGUAGE, SCRIPTS, contents.scripts, words.SCRIPT_NAMES)
    st.toggle(words.BY_WARNINGS, key=WARNED, persist_state="page")


def _show_choice(label: str, key: str, counts: Mapping[str, int], names: Mapping[str, str]) -> None:
    st.multiselect(
        label,
        list(counts),
        key=key,
        persist_state="page",  # when the panel is closed
        placeholder=words.LIBRARY_ANY,
        format_func=lambda one: words.OPTION_COUNTED.format(
            name=names.get(one, one), n=number(counts[one])
        ),
    )
