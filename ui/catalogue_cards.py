"""The places that were found, as cards: what each is, its score, why it is there."""

import re
from collections.abc import Sequence

from catalog.answer_texts import TEXTS
from domain import CatalogueDescription, FoundPlace, PlacePassage
from ui import words
from ui.catalogue_patterns import CardView, patterns_html
from ui.catalogue_score import parts_html, score_html
from ui.catalogue_words import aspect_name, field_name, type_name
from ui.document_links import document_address, link_html
from ui.html import cut_html, escape, lang
from ui.language import language, number

SHOWN = 8
PASSAGE_CHARACTERS = 240
HEADING, LISTED = re.compile(r"^#{1,6} .*$", re.MULTILINE), re.compile(r"^- ", re.MULTILINE)


def cards_html(found: Sequence[FoundPlace], view: CardView) -> str:
    """A card for each place with its rank, best first; those after the first ones are folded."""
    cards = [_card(n, one, view) for n, one in enumerate(found, start=1)]
    html = _grid(cards[:SHOWN])
    if more := cards[SHOWN:]:
        summary = escape(words.count(words.PLACE_MORE, len(more)))
        html += f'<details class="fn-more"><summary>{summary}</summary>{_grid(more)}</details>'
    return html


def _grid(cards: Sequence[str]) -> str:
    return f'<div class="fn-places"><div>{"".join(cards)}</div></div>'


def _card(n: int, found: FoundPlace, view: CardView) -> str:
    header = f'<header><span class="fn-n">{n}</span>{_title(found)}</header>'
    return (
        f'<article class="fn-found-place">{header}'
        f'<div class="fn-where">{_facts(found, view.description)}</div>'
        f"{_tags(found.tags, view.description)}{score_html(found)}"
        f"{patterns_html(found, view)}{_why(found)}</article>"
    )


def _tags(tags: Sequence[str], description: CatalogueDescription) -> str:
    names = [aspect_name(description, tag) for tag in tags]
    items = "".join(f"<li>{escape(name)}</li>" for name in names)
    return f'<ul class="fn-tags" aria-label="{escape(words.TAGS)}">{items}</ul>' if items else ""


def _title(found: FoundPlace) -> str:
    title = found.place.title
    label = words.PLACE_OPEN.format(title=title)
    address = document_address(found.place.document_id)
    text = f"<span{lang(title)}>{escape(title)}</span>"
    link = link_html(address, text, kind="fn-title", label=label)
    return f'<h3 aria-label="{escape(title)}">{link}</h3>'


def _facts(found: FoundPlace, description: CatalogueDescription) -> str:
    place = found.place
    types = TEXTS[language()].comma.join(type_name(description, one) for one in place.types)
    fields = [field_name(description, name, value) for name, value in place.fields.items()]
    parts = [types, *fields, rating_text(found, description)]
    return "".join(f"<span>{escape(part)}</span>" for part in parts if part)


def rating_text(found: FoundPlace, description: CatalogueDescription) -> str:
    """The rating with how many it rests on, such as `★ 4.5 of 5 (32 ratings)`."""
    place = found.place
    if place.rating is None:
        return str(words.PLACE_UNRATED)
    scale = number(description.rating_scale)
    rating = words.PLACE_RATING.format(rating=number(round(place.rating, 1)), scale=scale)
    return f"★ {rating} ({words.count(words.PLACE_RATINGS, place.reviews)})"


def _why(found: FoundPlace) -> str:
    passages = "".join(_passage(found, one) for one in found.passages)
    heading = escape(words.FOUND_IN if passages else words.NO_PASSAGE)
    return (
        f'<details class="fn-found fn-why"><summary>{escape(words.WHY_PLACE)}</summary>'
        f"{parts_html(found.parts)}<p>{heading}</p>{passages}</details>"
    )


def _passage(found: FoundPlace, passage: PlacePassage) -> str:
    address = document_address(found.place.document_id, passage.start, passage.end)
    text = _plain(passage.text)
    link = link_html(address, "↗", label=words.OPEN_AT_PASSAGE.format(title=found.place.title))
    return f"<blockquote{lang(text)}>{cut_html(text, PASSAGE_CHARACTERS)} {link}</blockquote>"


def _plain(text: str) -> str:
    """The passage in one line, without its headings; what it lists is parted by dots."""
    lines = (LISTED.sub("", line).strip() for line in HEADING.sub("", text).splitlines())
    listed = bool(LISTED.search(text))
    return (" · " if listed else " ").join(line for line in lines if line)
