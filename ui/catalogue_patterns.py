"""What reviewers of a place say again and again, with the quotes that it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain import CatalogueDescription, FoundPlace, Pattern, Quote
from ui import words
from ui.catalogue_words import aspect_name, group_name
from ui.document_links import document_address, link_html
from ui.html import escape, lang
from ui.language import ENGLISH

SHOWN = 3


@dataclass(frozen=True, slots=True)
class CardView:
    """What cards are drawn with; `language` is that of the answer, en, ko or ja."""

    description: CatalogueDescription
    language: str


def patterns_html(found: FoundPlace, view: CardView) -> str:
    """The first patterns with a quote each; the others, and further quotes, are folded."""
    patterns = found.patterns
    if not patterns:
        return ""
    html = _list([_pattern(found, one, view, 1) for one in patterns[:SHOWN]])
    if len(patterns) <= SHOWN and all(len(one.quotes) <= 1 for one in patterns):
        return html
    every = _list([_pattern(found, one, view, None) for one in patterns])
    summary = f"<summary>{escape(words.PATTERNS)}</summary>"
    return f'{html}<details class="fn-found">{summary}{every}</details>'


def _list(items: Sequence[str]) -> str:
    return f'<ul class="fn-patterns">{"".join(items)}</ul>'


def _pattern(found: FoundPlace, pattern: Pattern, view: CardView, most: int | None) -> str:
    judged = words.PATTERN_PRAISE if pattern.praises else words.PATTERN_BLAME
    count = words.PATTERN_COUNT.format(count=pattern.count, reviews=pattern.reviews)
    kind, sign = ("praise", "＋") if pattern.praises else ("blame", "－")
    aspect = escape(aspect_name(view.description, pattern.aspect))
    quotes = "".join(_quote(found, one, view.language) for one in pattern.quotes[:most])
    return (
        f'<li><span class="fn-{kind}">{sign} <b>{aspect}</b>'
        f" {escape(judged)}</span> {escape(count)} {_group(pattern, view)}{quotes}</li>"
    )


def _group(pattern: Pattern, view: CardView) -> str:
    if not pattern.group:
        return ""
    name = group_name(view.description, pattern.group)
    text = words.PATTERN_GROUP.format(group=name)
    return f'<span class="fn-group"{lang(name)}>{escape(text)}</span>'


def _quote(found: FoundPlace, quote: Quote, language: str) -> str:
    """The reviewer's words, in the reader's language where they were translated."""
    address = document_address(found.place.document_id, quote.start, quote.end)
    if quote.translation:
        shown, note = quote.translation, words.PATTERN_TRANSLATED
    else:
        shown, note = quote.text, "" if _is_in(quote.text, language) else words.PATTERN_ORIGINAL
    text = link_html(address, f"“{escape(shown)}”", label=_label(quote))
    told = f" <small>{escape(note)}</small>" if note else ""
    return f"<q{lang(shown)}>{text}</q>{told}"


def _label(quote: Quote) -> str:
    """Also the quote in the original: it is read out in place of what the link shows."""
    return f"{words.PATTERN_OPEN}: {quote.text}"


def _is_in(text: str, language: str) -> bool:
    marked = lang(text)
    return marked == (f' lang="{language}"' if language != ENGLISH else "")
