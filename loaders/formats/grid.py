"""Tables whose cells say where they stand and how far they reach."""

from collections.abc import Iterable
from dataclasses import dataclass

from loaders.formats.content import pipe_table

_MAX_SPAN = 200
_MAX_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, its place from 0, and how many rows and columns it covers."""

    row: int
    column: int
    text: str
    rows: int = 1
    columns: int = 1


def grid_table(cells: Iterable[Cell]) -> str:
    """The cells as a pipe table; one that spans rows is repeated, so that each row says it all."""
    texts: dict[int, dict[int, str]] = {}
    count = 0
    for cell in cells:
        height = max(1, min(cell.rows, _MAX_SPAN))
        count += height
        if count > _MAX_CELLS or cell.column >= _MAX_CELLS:
            break
        for row in range(cell.row, cell.row + height):
            texts.setdefault(row, {})[cell.column] = cell.text
    used = sorted({column for row in texts.values() for column in row})
    return pipe_table([texts[row].get(column, "") for column in used] for row in sorted(texts))
