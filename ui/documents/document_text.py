"""The text on the document page: its outline, the search in it, and the parts of a long one."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlencode

import streamlit as st

from domain.errors import NotFoundError
from services.library.document_parts import Heading
from services.library.document_style import Style
from services.library.reader_service import DocumentReader, DocumentView, Span
from ui.documents.rendering import Highlight, Kind, document_html
from ui.shared.frame import principal
from ui.shared.safe_html import cut_html, escape, lang, scroll_to
from ui.text import words
from ui.text.reader_language import number

FIND, MATCH = "document-find", "document_match"
AT = "at"
"""The parameter of the address with the position to show instead of the span of the link."""
HEADING_CHARACTERS = 90
LANGUAGE_SAMPLE = 5000


def current_position(matches: Sequence[Span]) -> int | None:
    """The start of the current match of a search; None without one."""
    return matches[_number(matches)].start if matches else None


def find_matches(reader: DocumentReader, document_id: str) -> Sequence[Span]:
    """The matches of the reader's search in this document, in order; empty without a search."""
    text = st.session_state.get(f"{FIND}-{document_id}", "")
    try:
        return reader.find(principal(), document_id, text) if text.strip() else ()
    except NotFoundError:  # it was removed, but an answer may still have a passage of it
        return ()


def _number(matches: Sequence[Span]) -> int:
    return int(st.session_state.get(MATCH, 0)) % len(matches)


def show_finder(view: DocumentView, matches: Sequence[Span]) -> None:
    """Show the field that finds words in the document, and buttons that move in it."""
    with st.container(horizontal=True, vertical_alignment="center", key="document-finder"):
        text = st.text_input(
            words.FIND_IN_DOCUMENT,
            key=f"{FIND}-{view.document_id}",
            placeholder=words.FIND_IN_DOCUMENT,
            label_visibility="collapsed",
            icon=":material/search:",
            on_change=_restart,
        )
        if text.strip():
            _show_matches(matches)
        _show_way_back(view)


def _show_matches(matches: Sequence[Span]) -> None:
    """Show the number of the current match, and buttons for its neighbors."""
    _move_button(words.PREVIOUS_MATCH, ":material/keyboard_arrow_up:", -1, matches)
    _move_button(words.NEXT_MATCH, ":material/keyboard_arrow_down:", 1, matches)
    st.html(f'<p class="fn-place" role="status">{escape(_count(matches))}</p>', width="content")


def _show_way_back(view: DocumentView) -> None:
    """Show a button that returns to the passage, if another position is shown."""
    if view.at is None or view.focus.start == view.focus.end:
        return
    back, icon, args = words.BACK_TO_PASSAGE, ":material/undo:", (view.document_id, None)
    st.button(back, icon=icon, on_click=_show_at, args=args, key="document-back")


def _restart() -> None:
    st.session_state[MATCH] = 0


def _move_button(label: str, icon: str, step: int, matches: Sequence[Span]) -> None:
    st.button(label, icon=icon, disabled=len(matches) < 2, on_click=_move, args=(step,))


def _move(step: int) -> None:
    st.session_state[MATCH] = int(st.session_state.get(MATCH, 0)) + step


def _count(matches: Sequence[Span]) -> str:
    if not matches:
        return words.NO_MATCHES
    return words.MATCH_OF.format(n=number(_number(matches) + 1), total=number(len(matches)))


def show_text(view: DocumentView, matches: Sequence[Span]) -> None:
    """Show the text, or the part of it, with the outline, and scroll to what was requested."""
    current = matches[_number(matches)] if matches else None
    _show_pager("before", words.EARLIER_PART, ":material/arrow_upward:", view.previous, view)
    st.html(reading_html(view, matches, current, st.query_params.to_dict()))
    _show_pager("after", words.LATER_PART, ":material/arrow_downward:", view.next, view)
    what, to = _target(view, current)
    if what:
        scroll_to(what, to=to, of=f"{view.document_id} {view.focus} {view.at} {current}")


def _target(view: DocumentView, current: Span | None) -> tuple[str, str]:
    """The selector of what to scroll to, and where to; "" to stay at the top."""
    if current:
        return ".fn-reading .fn-current", "center"
    if view.at is None and view.marks:
        return ".fn-reading mark", "center"
    if view.at is None and view.focus.end > view.focus.start:
        return ".fn-reading .fn-focus", "center"
    position = view.focus.start if view.at is None else view.at
    if not position:
        return "", ""
    return (".fn-reader" if position == view.start else f"#fn-at-{position}"), "start"


def _show_pager(key: str, label: str, icon: str, start: int | None, view: DocumentView) -> None:
    """Show a button that opens the neighboring part, if there is one."""
    if start is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"document-{key}"):
        st.button(label, icon=icon, on_click=_show_at, args=(view.document_id, start))
        place = words.PART_OF.format(part=number(view.part), parts=number(view.parts))
        st.html(f'<p class="fn-place">{escape(place)}</p>', width="content")


def _show_at(document_id: str, at: int | None) -> None:
    """Show the document at a position, or with None, at the span of the link."""
    st.session_state.pop(f"{FIND}-{document_id}", None)
    if at is None:
        st.query_params.pop(AT, None)
    else:
        st.query_params[AT] = str(at)


def reading_html(
    view: DocumentView,
    matches: Sequence[Span],
    current: Span | None,
    address: Mapping[str, str],
) -> str:
    """The rendered text with its quotes and matches highlighted, next to the outline.

    `address` are the parameters of the page's address, which links to other parts keep.
    """
    text, shift = view.opening + view.text, len(view.opening) - view.start
    highlights = [Highlight(*span, Kind.QUOTE) for span in view.marks]
    highlights += [Highlight(*view.focus, Kind.FOCUS), *_visible(view, matches)]
    highlights += [Highlight(*current, Kind.CURRENT)] if current else []
    moved = tuple(Highlight(one.start + shift, one.end + shift, one.kind) for one in highlights)
    html = _render(text, moved, view.style, -shift)
    article = f'<article class="fn-text fn-reading"{lang(text[:LANGUAGE_SAMPLE])}>{html}</article>'
    outline = _outline_html(view, address)
    return f'<div class="fn-reader{" fn-outlined" if outline else ""}">{outline}{article}</div>'


@lru_cache(maxsize=8)
def _render(text: str, highlights: tuple[Highlight, ...], style: Style, base: int) -> str:
    return document_html(text, highlights, style=style, base=base)


def _visible(view: DocumentView, matches: Sequence[Span]) -> list[Highlight]:
    first = bisect_left(matches, (view.start,))
    last = bisect_left(matches, (view.start + len(view.text),))
    return [Highlight(*span, Kind.MATCH) for span in matches[first:last]]


def _outline_html(view: DocumentView, address: Mapping[str, str]) -> str:
    """The outline, folded on a narrow screen and open beside the text on a wide one."""
    if len(view.headings) < 2:
        return ""
    top = min(one.level for one in view.headings)
    entries = "".join(_entry(view, one, one.level - top, address) for one in view.headings)
    title = escape(words.OUTLINE)
    inside = f'<summary>{title}</summary><nav aria-label="{title}">{entries}</nav></details>'
    return (
        f'<details class="fn-outline fn-narrow">{inside}'
        f'<details class="fn-outline fn-wide" open>{inside}'
    )


def _entry(view: DocumentView, heading: Heading, depth: int, address: Mapping[str, str]) -> str:
    is_here = view.start <= heading.start < view.start + len(view.text)
    elsewhere = urlencode({"id": view.document_id, **address, AT: heading.start})
    link = f"#fn-at-{heading.start}" if is_here else f"document?{elsewhere}"
    title = cut_html(heading.title, HEADING_CHARACTERS)
    return (
        f'<a class="fn-depth-{min(depth, 4)}" href="{escape(link)}" target="_self"'
        f"{lang(heading.title)}>{title}</a>"
    )
