"""How old what an answer cites is, and whether it still stands so."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ui import words
from ui.html import escape

if TYPE_CHECKING:
    from services.reader import Freshness


def age_html(cited_version: str, stored: "Freshness | None") -> str:
    """When the stored version was imported and which it is; flagged where another was cited.

    None is of a document that is gone.
    """
    if stored is None:
        return _flag(words.GONE, words.GONE_NOTE)
    age = f"<span>{escape(age_text(stored))}</span>"
    if cited_version and cited_version != stored.version:
        return age + _flag(words.CHANGED_SINCE, words.CHANGED_SINCE_NOTE)
    return age


def age_text(stored: "Freshness") -> str:
    """When that version was imported, and its number."""
    days = (datetime.now(UTC) - stored.imported_at).days
    if days < 1:
        return words.AGE_TODAY.format(version=stored.revision)
    return words.count(words.AGE, days, version=stored.revision)


def _flag(text: str, note: str) -> str:
    return f'<span class="fn-badge fn-old" title="{escape(note)}">{escape(text)}</span>'
