"""Text that databases and UTF-8 accept."""

import re

REPLACEMENT = "\ufffd"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def sanitize(text: str) -> str:
    """Replace each NUL and each lone surrogate, which databases reject, by U+FFFD."""
    text = text.replace("\0", REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub(REPLACEMENT, text)
    return text
