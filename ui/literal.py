"""Text that is not ours as Streamlit's Markdown shows it: letter by letter.

Labels of buttons and sliders, captions, toasts and progress bars are Markdown. A source's name or
a conversation's title in one of them stays text, whatever it looks like: it loads no image, links
nowhere and is not styled. Options of select boxes, placeholders, cells of tables and `st.text`
are plain text already and must not be escaped.
"""

import re

_WHITE_SPACE = re.compile(r"[ \t\n\r\f\v]+")
_LINE_START = re.compile(r"^(\d*)(?=[-+.)])")
_SIGN = re.compile(
    # Streamlit replaces icons, emoji, addresses and arrows after Markdown has been parsed, where a
    # backslash is gone: the first group is the sign that breaks each.
    r"(:(?=material/|[\w+-]+:|//)|@|(?<=www)\.|-(?=>)|(?<=[<-])-|(?<=[<>~])=)"
    r"|[\\`*_\[\]{}<>#|~$!&:]",
    re.ASCII | re.IGNORECASE,
)


def literal(text: str) -> str:
    """Markdown that shows exactly this text in one line, runs of white space as one space."""
    line = _SIGN.sub(_escaped, _WHITE_SPACE.sub(" ", text).strip(" "))
    return _LINE_START.sub(r"\1\\", line)  # else a list


def _escaped(sign: re.Match[str]) -> str:
    """The sign with a backslash, and in an unstyled element of its own where that is not enough."""
    return f":color[\\{sign[0]}]" if sign[1] else f"\\{sign[0]}"
