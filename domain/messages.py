"""Messages for users: English text that keeps its template, so that pages can translate it.

Errors, reasons, warnings, and notices are created with `_`, where Babel finds their templates. They
are ordinary strings: logs, the API, and the command line print them unchanged. F-strings, `+`, and
the methods of `str` return plain text, which is no longer translated.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any, Self

_IN_CHECKOUT = "python cli.py"
COMMAND = _IN_CHECKOUT if (Path(__file__).parents[1] / "pyproject.toml").exists() else "footnote"
"""How a person starts the command line: in a checkout, or if Footnote is installed."""

_BEGINNING = '{"message": '  # of a stored message with values


class Message(str):
    """A text with its template and values; the values may be messages."""

    __slots__ = ("template", "values")
    template: str
    values: Mapping[str, str]

    def __new__(cls, template: str, values: Mapping[str, str] | None = None) -> Self:
        """Fill in the template; without values, the text is the template itself."""
        text = template.format_map(values) if values else template
        message = super().__new__(cls, with_command(text))
        message.template, message.values = template, values or {}
        return message

    def format(self, *_args: object, **values: object) -> "Message":
        """The message with its template's placeholders replaced by these values.

        Values without a placeholder are ignored.
        """
        names = {name for _text, name, *_more in Formatter().parse(self.template)}
        used = {name: str(value) for name, value in values.items() if name in names}
        return Message(self.template, used)

    def __str__(self) -> Self:
        """The message itself, so `str(error)` keeps the template."""
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, Mapping[str, str]]]:
        return type(self), (self.template, self.values)


def with_command(text: str) -> str:
    """The text with the commands in it as a person types them here."""
    return text.replace(_IN_CHECKOUT, COMMAND)


def _(template: str) -> Message:
    """Mark a literal for translation: `_("{name} is empty").format(name=name)`."""
    return Message(template)


def join_messages(messages: Iterable[str], separator: str = "; ") -> str:
    """Join messages so that each of them can still be translated."""
    parts = {f"part{n}": message for n, message in enumerate(messages)}
    return Message(separator.join(f"{{{name}}}" for name in parts), parts) if parts else ""


def to_json(value: Any) -> Any:
    """Replace each message in a value by a dict of its template and values."""
    match value:
        case Message():
            return {"message": value.template, "values": to_json(value.values)}
        case Mapping():
            return {key: to_json(one) for key, one in value.items()}
        case list() | tuple():
            return [to_json(one) for one in value]
    return value


def from_json(value: Any) -> Any:
    """The inverse of `to_json`, except that tuples become lists."""
    match value:
        case {"message": str() as template, "values": dict() as values} if len(value) == 2:
            return _message(template, from_json(values))
        case dict():
            return {key: from_json(one) for key, one in value.items()}
        case list():
            return [from_json(one) for one in value]
    return value


def to_text(text: str) -> str:
    """The text for storage: JSON for a message with values, otherwise the English text."""
    if isinstance(text, Message) and text.values:
        return json.dumps(to_json(text), ensure_ascii=False)
    if text.startswith(_BEGINNING):  # would be read as a message
        return to_text(Message("{text}", {"text": text}))
    return text


def from_text(text: str) -> str:
    """The inverse of `to_text`; text stored by earlier versions of Footnote is returned as is."""
    if not text.startswith(_BEGINNING):
        return text
    try:
        read = from_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return read if isinstance(read, str) else text


def _message(template: str, values: Mapping[str, str]) -> str:
    try:
        return Message(template, values)
    except (KeyError, ValueError, IndexError, AttributeError):  # not written by `to_text`
        return template
