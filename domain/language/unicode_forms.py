"""The Unicode forms in which the same text may be stored."""

from unicodedata import normalize


def forms_of(text: str) -> set[str]:
    """The text itself, composed (NFC), and decomposed (NFD), as macOS writes names."""
    return {text, normalize("NFC", text), normalize("NFD", text)}
