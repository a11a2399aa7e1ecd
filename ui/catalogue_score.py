"""What a place's score is made of, as a stacked bar and as a table."""

from collections.abc import Sequence

from domain import FoundPlace, PlacePart
from ui import words
from ui.html import escape


def score_html(found: FoundPlace) -> str:
    """The bar of the parts' shares, and below it each part by name with its number.

    Its whole length is the most that the parts could give together, so that bars compare.
    """
    most = sum(part.weight for part in found.parts)
    segments = "".join(_segment(part, most) for part in found.parts)
    told = ", ".join(f"{_name(part)} {part.share:.2f}" for part in found.parts)
    label = words.PLACE_BAR.format(score=f"{found.score:.2f}", parts=told)
    legend = "".join(map(_legend, found.parts))
    total = words.PLACE_SCORE.format(score=f"{found.score:.2f}")
    return (
        f'<div class="fn-score"><div class="fn-stack" role="img" aria-label="{escape(label)}">'
        f"{segments}</div><ul>{legend}<li><b>{escape(total)}</b></li></ul></div>"
    )


def parts_html(parts: Sequence[PlacePart]) -> str:
    """A table of the parts: value, weight, share, and what each is."""
    heads = (words.PART, words.PART_VALUE, words.PART_WEIGHT, words.SHARE)
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = "".join(map(_row, parts))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _segment(part: PlacePart, most: float) -> str:
    percent = min(max(100 * part.share / most, 0), 100) if most > 0 else 0
    return f'<span class="{_kind(part)}" style="width:{percent:.1f}%"></span>'


def _legend(part: PlacePart) -> str:
    return f'<li><i class="{_kind(part)}"></i>{escape(_name(part))} <b>{part.share:.2f}</b></li>'


def _row(part: PlacePart) -> str:
    note = words.PART_NOTES.get(part.name, "")
    return (
        f"<tr><td>{escape(_name(part))}<small>{escape(note)}</small></td>"
        f"<td>{part.value:.2f}</td><td>{part.weight:g}</td><td>{part.share:.2f}</td></tr>"
    )


def _kind(part: PlacePart) -> str:
    return escape(f"fn-part fn-part-{part.name.replace('_', '-')}")


def _name(part: PlacePart) -> str:
    return str(words.PARTS.get(part.name, part.name))
