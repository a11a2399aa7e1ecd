"""How a search choice is called on the pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from domain import Scope, SearchChoice, SearchMode
from ui import words
from ui.literal import literal

if TYPE_CHECKING:
    from services.choices import Choices


def scope_label(search: SearchChoice, choices: "Choices") -> str:
    """What is searched, in a few words: `Search in: 2 collections, pdf, since 2026-01-01`."""
    told = scope_words(search.scope, choices)
    if search.mode:
        told.append(mode_name(search.mode))
    if not told:
        return words.SCOPE_EVERYWHERE
    return words.SCOPE_LABEL.format(what=literal(words.SCOPE_COMMA.join(told)))


def scope_words(scope: Scope, choices: "Choices") -> list[str]:
    """What a scope narrows a search to, part by part; nothing where it narrows nothing."""
    names = [source_name(choices, id_) for id_ in scope.sources]
    return [
        *_one_or_count(names, words.SCOPE_N_SOURCES),
        *_one_or_count(scope.collections, words.SCOPE_N_COLLECTIONS),
        *scope.formats,
        *_one_or_count(scope.labels, words.SCOPE_N_LABELS),
        *([words.SCOPE_FROM.format(day=scope.since)] if scope.since else []),
        *([words.SCOPE_TO.format(day=scope.until)] if scope.until else []),
    ]


def source_name(choices: "Choices", id_: str) -> str:
    """How a source is called here; one that is gone says so."""
    if id_ == choices.own:
        return words.SCOPE_OWN
    return choices.sources.get(id_, words.SCOPE_GONE)


def mode_name(mode: SearchMode | None) -> str:
    """How a search mode is called here."""
    return str(words.MODES[mode or SearchMode.CONVEX])


def _one_or_count(names: Sequence[str], forms: Any) -> list[str]:
    if len(names) <= 1:
        return list(names)
    return [words.count(forms, len(names))]
