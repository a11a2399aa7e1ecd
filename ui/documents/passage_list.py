"""The passages of a document, as they are indexed, with the properties of the document."""

import streamlit as st

from bootstrap import Services
from domain import ListedDocument, SharedPassage, is_on_web
from ui.documents.highlight import document_address, mark_html, original_html
from ui.library.library_page import open_document, source_names
from ui.shared.frame import offset_of, principal, show_errors, show_pages, show_problem
from ui.shared.safe_html import escape, lang, spans_html
from ui.text import words
from ui.text.reader_language import day_and_time, number

ROWS = 20
PAGE = "passages_page"


def show_document_passages(services: Services, document_id: str) -> None:
    """Show a document's properties and its passages, page by page, or an error if it is gone."""
    back, icon = words.BACK_TO_LIBRARY, ":material/arrow_back:"
    st.button(back, icon=icon, on_click=open_document, args=("",))
    with show_errors():
        _show(services, services.documents.get(principal(), document_id))


def _show(services: Services, document: ListedDocument) -> None:
    st.html(facts_html(document, source_names(services).get(document.source_id, "")))
    for warning in document.warnings:
        show_problem(warning, severe=False)
    key = f"{PAGE}_{document.id}"
    offset = offset_of(key, ROWS)
    listed = services.documents.passages(principal(), document.id, limit=ROWS, offset=offset)
    if not listed:
        st.caption(words.NO_PASSAGES)
        return
    st.caption(words.OVERLAP_NOTE)
    st.html("".join(passage_html(one, document.passages) for one in listed))
    show_pages(document.passages, ROWS, key)


def facts_html(document: ListedDocument, source: str) -> str:
    """The document's title and its known properties."""
    density, details = document.characters_per_page, document.details
    is_elsewhere = is_on_web(document.location)
    facts = {
        words.COLUMN_SOURCE: source,
        words.COLUMN_KEY: "" if is_elsewhere else document.key,
        words.COLUMN_SPACE: details.get("space_name", ""),
        words.COLUMN_AUTHOR: details.get("author", ""),
        words.COLUMN_LABELS: ", ".join(details.get("labels", ())),
        words.COLUMN_FORMAT: document.format,
        words.COLUMN_PAGES: number(document.pages) if document.pages else "",
        words.COLUMN_CHARACTERS: number(document.characters),
        words.COLUMN_DENSITY: "" if density is None else number(density),
        words.COLUMN_ENCODING: document.encoding or "",
        words.COLUMN_LANGUAGE: words.SCRIPT_NAMES.get(document.script, document.script),
        words.COLUMN_PASSAGES: number(document.passages),
        words.COLUMN_LONGEST: number(document.longest_passage),
        words.COLUMN_VERSION: number(document.revision),
        words.COLUMN_IMPORTED: day_and_time(document.imported_at),
    }
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
        if value
    )
    address = document_address(document.id)
    return (
        f'<article class="fn-facts"><h3{lang(document.title)}>{escape(document.title)}</h3>'
        f"<dl>{items}</dl>{original_html(document.location) if is_elsewhere else ''} "
        f'<a href="{escape(address)}" target="_self">{escape(words.OPEN_DOCUMENT)}</a></article>'
    )


def passage_html(listed: SharedPassage, total: int) -> str:
    """A passage with its location; text that it shares with its neighbors is highlighted."""
    passage = listed.passage
    length, before, after = len(passage.text), listed.shared_before, listed.shared_after
    spans = [span for span in ((0, before), (length - after, length)) if span[0] < span[1]]
    name = words.LIBRARY_PASSAGE_OF.format(n=number(passage.ordinal + 1), total=number(total))
    address = document_address(passage.document_id, passage.start, passage.end)
    return (
        f'<article class="fn-chunk"><header><b>{escape(name)}</b>{_place_html(listed)}</header>'
        f'<div class="fn-passage"{lang(passage.text)}>{mark_html(passage.text, spans)}</div>'
        f'<footer><a href="{escape(address)}" target="_self">{escape(words.READ_HERE)}</a></footer>'
        "</article>"
    )


def _place_html(listed: SharedPassage) -> str:
    passage = listed.passage
    parts = [
        " › ".join(passage.heading_path),
        words.PAGE.format(page=passage.page) if passage.page else "",
        words.PASSAGE_FACTS.format(characters=number(len(passage.text))),
        words.count(words.OVERLAP_BEFORE, listed.shared_before) if listed.shared_before else "",
        words.count(words.OVERLAP_AFTER, listed.shared_after) if listed.shared_after else "",
    ]
    return f'<div class="fn-where">{spans_html(parts)}</div>'
