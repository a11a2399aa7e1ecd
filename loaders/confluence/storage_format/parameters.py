"""Which parameters of an unknown macro a reader sees: those that are words, not settings."""

import re
from collections.abc import Mapping

_SHOWN = frozenset({
    "", "accesslink", "alt", "caption", "code", "description", "diagram", "diagramdisplayname",
    "diagramname", "file", "filename", "heading", "key", "label", "link", "message", "name",
    "page", "question", "subtitle", "summary", "text", "title", "url", "user",
})  # fmt: skip
_SETTINGS = frozenset({"atlassian-macro-output-type", "class", "cql", "css", "sort", "style"})
_WORDS = re.compile(r"[^\W\d_]{2}[,;:.!?]* [^\W\d_]|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_CODE = re.compile(r"[{}\[\]<>=]|\d(?:px|em|%)")


def told(parameters: Mapping[str, str]) -> list[str]:
    """The values that tell a reader something, in order and each once.

    Those with a telling name (title, caption, url ...), and any that is a phrase or is Korean,
    Japanese or Chinese. Sizes, colours, ids, switches and queries set something up instead.
    """
    return list(dict.fromkeys(
        text for name, text in parameters.items() if text and _tells(name.lower(), text)
    ))  # fmt: skip


def _tells(name: str, text: str) -> bool:
    if "](" in text or name in _SHOWN:
        return True
    is_phrase = _WORDS.search(text) is not None and _CODE.search(text) is None
    return is_phrase and name not in _SETTINGS
