"""The names and sentences that the catalogues are put together from."""

from functools import cache
from pathlib import Path


@cache
def sections(name: str) -> dict[str, list[str]]:
    """The lines of the text file of that name, by the [heading] that they stand under."""
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            lines = found.setdefault(line.strip("[]"), [])
        else:
            lines.append(line)
    return found
