"""The roadmap macro, which keeps a plan as JSON in one parameter."""

import json
from typing import Any
from urllib.parse import unquote

from loaders.confluence.storage_format.elements import Element, add, say
from loaders.confluence.storage_format.macro import Macro

_DAY_LENGTH = len("2026-11-21")


def say_roadmap(macro: Macro) -> None:
    """A plan as a list: its lanes, in each its bars with their days, and its markers."""
    say(macro.element, "", "div")
    plan = _plan(macro.parameter("source"))
    if title := macro.parameter("title") or _text(plan, "title"):
        add(macro.element, "p", title)
    if plan:
        entries = add(macro.element, "ul")
        for lane in _parts(plan, "lanes"):
            _say_entry(entries, lane, _parts(lane, "bars"))
        for marker in _parts(plan, "markers"):
            _say_entry(entries, marker, [])


def _say_entry(entries: Element, entry: Any, inner: list[Any]) -> None:
    days = (_text(entry, name)[:_DAY_LENGTH] for name in ("startDate", "endDate"))
    day = _text(entry, "markerDate", "date")[:_DAY_LENGTH] or " - ".join(filter(None, days))
    text = ": ".join(filter(None, (day, _text(entry, "title"), _text(entry, "description"))))
    item = add(entries, "li", text)
    if inner:
        bars = add(item, "ul")
        for bar in inner:
            _say_entry(bars, bar, [])


def _plan(source: str) -> Any:
    try:
        return json.loads(source if source.startswith("{") else unquote(source))
    except (ValueError, RecursionError):  # no plan of this macro, but of one of the same name
        return None


def _parts(of: Any, name: str) -> list[Any]:
    parts = of.get(name) if isinstance(of, dict) else None
    return parts if isinstance(parts, list) else []


def _text(of: Any, *names: str) -> str:
    texts = (of.get(name) for name in names) if isinstance(of, dict) else ()
    return next((text for text in texts if isinstance(text, str) and text), "")
