"""Joins surrogate pairs, whose halves a stream of JSON may contain in two pieces."""

from domain.language.sanitization import sanitize


def join_pairs(text: str) -> str:
    """The text with the character for each surrogate pair; lone surrogates stay."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class PieceSanitizer:
    """Sanitizes a text that comes in pieces, in which surrogate pairs may be split."""

    def __init__(self) -> None:
        """Start a text."""
        self._high = ""

    def read(self, piece: str) -> str:
        """The sanitized text up to the end of the piece, except a high surrogate there."""
        text = join_pairs(self._high + piece)
        self._high = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return sanitize(text.removesuffix(self._high))

    def close(self) -> str:
        """U+FFFD if the text ends with a high surrogate, else ""; the next piece starts a text."""
        rest, self._high = sanitize(self._high), ""
        return rest
