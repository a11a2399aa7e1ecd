"""What .eml and .msg share: a mail as Markdown, its attachments as sections."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from loaders.formats.content import Content, heading, one_line
from loaders.formats.html import to_markdown
from loaders.formats.parts import Part, sections

_SHOWN = ("From", "To", "Cc", "Date")
_UNNAMED = "(no subject)"


@dataclass(slots=True)
class Mail:
    """What a mail holds: `headers` From, To, Cc and Date, decoded; `html` for want of `text`."""

    subject: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""
    html: str = ""
    encoding: str | None = None
    parts: list[Part] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def content(mail: Mail) -> Content:
    """The subject as heading, who wrote to whom and when, the text, and each attachment's text."""
    told = (f"{name}: {mail.headers[name]}" for name in _SHOWN if mail.headers.get(name))
    body, warnings = _body(mail)
    attached = sections(mail.parts, level=2)
    subject = one_line(mail.subject)
    blocks = [heading(1, subject or _UNNAMED), "\n".join(told), body, attached.text]
    text = "\n\n".join(block for block in blocks if block.strip())
    warnings = (*mail.warnings, *warnings, *attached.warnings)
    return Content(text, subject, mail.encoding, warnings=warnings)


def _body(mail: Mail) -> tuple[str, Sequence[str]]:
    if mail.text.strip() or not mail.html.strip():
        return mail.text.strip("\n"), ()
    text, title, warnings = to_markdown(mail.html)
    return text.removeprefix(f"# {title}\n\n"), warnings  # the heading is the mail's subject
