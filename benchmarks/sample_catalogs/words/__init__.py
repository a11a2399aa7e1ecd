"""The names and phrases from which the catalogs are generated."""

from functools import cache
from pathlib import Path


@cache
def sections(name: str) -> dict[str, list[str]]:
    """The lines of the text file, by [heading]."""
    text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
    by_heading: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("["):
            lines = by_heading.setdefault(line.strip("[]"), [])
        else:
            lines.append(line)
    return by_heading
