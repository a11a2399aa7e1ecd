"""The events of the audit log in words: names instead of ids, and labels for their details."""

from collections.abc import Iterator, Mapping
from typing import Any

from domain import AuditEvent
from ui.text import words

Names = Mapping[str, str]
"""The names of people, sources, and API keys by id."""
_IN_OBJECT = ("source_id", "name")
_CHOICES = {
    "kind": "SOURCE_KINDS",
    "role": "ROLE_NAMES",
    "state": "IMPORT_STATES",
    "reason": "AUDIT_REASONS",
    "is_scheduled": "AUDIT_SCHEDULED",
}


def ids_in(event: AuditEvent) -> Iterator[str]:
    """The ids of which some may be those of accounts."""
    yield event.actor
    yield event.object_id
    yield str(event.detail.get("user_id", ""))


def actor_name(event: AuditEvent, names: Names) -> str:
    """The name of the actor at the time of the event, or now, or the id."""
    return event.actor_name or names.get(event.actor, event.actor)


def object_name(event: AuditEvent, names: Names) -> str:
    """The name of the object at the time of the event, or now, or the id.

    An import has the name of its source, and a restriction that of what it restricts.
    """
    id_ = str(event.detail.get("source_id", event.object_id))
    if event.object_kind == "restriction":
        id_ = id_.partition(":")[2]
    return str(event.detail.get("name") or names.get(id_, id_))


def detail_text(event: AuditEvent, names: Names) -> str:
    """The details that are not in the name of the object, with their labels."""
    shown = dict(event.detail)
    values = shown.pop("values", {})
    if settings := shown.get("settings"):
        shown["settings"] = [_setting(name, values) for name in settings]
    return " · ".join(
        f"{_label(name)}: {_value(name, value, names)}"
        for name, value in shown.items()
        if name not in _IN_OBJECT
    )


def _label(name: str) -> str:
    return str(words.AUDIT_DETAILS.get(name) or words.OUTCOMES.get(name, name))


def _setting(name: str, values: Mapping[str, Any]) -> str:
    """The setting with its value, unless that is not recorded."""
    label = str(words.SETTING_LABELS.get(name, name))
    if name not in values:
        return label
    value = words.AUDIT_DEFAULT if values[name] is None else values[name]
    return f"{label}: {value}"


def _value(name: str, value: Any, names: Names) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if name == "readers" and value is None:
        return str(words.EVERYONE)
    known = getattr(words, _CHOICES[name]) if name in _CHOICES else names
    return str(known.get(value, value))
