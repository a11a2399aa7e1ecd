"""Reads presentations and spreadsheets (.pptx, .xlsx) as Markdown, and checks their archives."""

import io
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

from domain.errors import UnreadableError
from domain.messages import _
from loaders.formats.archive import (
    ENCRYPTED,
    attribute,
    child,
    children,
    local,
    open_zip,
    parse_part,
)
from loaders.formats.content import (
    MAX_HEADING,
    Content,
    heading,
    join_pages,
    one_line,
    pipe_table,
    without_empty_columns,
)
from loaders.formats.equations import join_equations
from loaders.formats.office_equations import office_equation
from loaders.formats.superscript import join_superscripts, superscript

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def open_archive(data: bytes, suffix: str) -> io.BytesIO:
    """Return the file as a stream after checking that it is complete and of limited size.

    Raises:
        UnreadableError: The file is encrypted, in the old binary format, truncated, or a zip bomb.
    """
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise UnreadableError(ENCRYPTED)
        old = suffix.removesuffix("x")
        raise UnreadableError(
            _("it is an old {old} file or is encrypted: save it as {suffix}").format(
                old=old, suffix=suffix
            )
        )
    open_zip(data, suffix).close()
    return io.BytesIO(data)


_MAX_CHART_POINTS = 1000
_POSITIVE = re.compile("0*[1-9]")
_RUNS = "r", "br", "fld", "m"
_OPTIONS = "Choice", "Fallback"
_SHAPES = "sp", "grpSp", "graphicFrame", "cxnSp", "pic"


def read_pptx(data: bytes) -> Content:
    """Read slides: the title, texts and tables from top to bottom, and notes as a quotation."""
    from pptx import Presentation  # slow to import

    presentation = Presentation(open_archive(data, ".pptx"))
    text, pages = join_pages([_slide(slide) for slide in presentation.slides])
    return Content(text, presentation.core_properties.title or "", pages=pages)


def _choose_alternatives(root: Any) -> None:
    """Replace alternatives by the first one with known elements; ink is unknown, for example.

    PowerPoint writes two versions of each equation, and of the whole shape that contains it.
    """
    for alternatives in list(root.iter("{*}AlternateContent")):
        options = (children(one, *_SHAPES, "m") for one in children(alternatives, *_OPTIONS))
        elements = next(filter(None, map(list, options)), [])
        for element in elements:
            alternatives.addprevious(element)
        if elements:
            alternatives.getparent().remove(alternatives)


def _slide(slide: Any) -> str:
    _choose_alternatives(slide.element)
    title = slide.shapes.title
    name = one_line(_text(title.text_frame)) if title is not None else ""
    # Some authors put the whole text into the title's frame, which is not a heading.
    is_heading = 0 < len(name) <= MAX_HEADING
    blocks = [heading(1, name)] if is_heading else []
    title_id = title.shape_id if is_heading else None
    blocks += [_shape(shape) for shape in _flatten(slide.shapes) if shape.shape_id != title_id]
    if slide.has_notes_slide:
        blocks += _notes(slide.notes_slide)
    return "\n\n".join(block for block in blocks if block.strip())


def _notes(notes: Any) -> Iterator[str]:
    _choose_alternatives(notes.element)
    text = "" if notes.notes_text_frame is None else _text(notes.notes_text_frame)
    return (f"> {one_line(line)}" for line in text.splitlines() if line.strip())


def _flatten(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes by their position on the slide; those of a group together at its position."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _flatten(shape.shapes)
        else:
            yield shape


def _shape(shape: Any) -> str:
    if getattr(shape, "has_table", False):
        rows = shape.table.rows
        return pipe_table([_text(cell.text_frame) for cell in row.cells] for row in rows)
    if getattr(shape, "has_chart", False):
        return _chart(shape.chart)
    return _frame_text(shape) if shape.has_text_frame else _diagram(shape)


def _text(frame: Any) -> str:
    """The text of a frame, with a line for each paragraph."""
    return "\n".join(_paragraph_text(paragraph._p) for paragraph in frame.paragraphs)


def _paragraph_text(paragraph: Any) -> str:
    """The text of an `a:p` element, with ^ before a superscript that is an exponent: 10^6."""
    text = "".join(map(_run_text, children(paragraph, *_RUNS)))
    return join_superscripts(join_equations(text))


def _run_text(run: Any) -> str:
    if local(run) == "m":
        return "".join(map(office_equation, run))
    text = "\v" if local(run) == "br" else run.findtext("{*}t") or ""
    return superscript(text) if _is_raised(run) else text


def _is_raised(run: Any) -> bool:
    properties = child(run, "rPr")
    return properties is not None and bool(_POSITIVE.match(properties.get("baseline", "")))


def _frame_text(shape: Any) -> str:
    """Format a frame's paragraphs, as list items if the layout makes them a list."""
    paragraphs = [(p.level, one_line(_paragraph_text(p._p))) for p in shape.text_frame.paragraphs]
    paragraphs = [(level, text) for level, text in paragraphs if text]
    is_list = shape.is_placeholder and len(paragraphs) > 1
    if is_list or any(level for level, _ in paragraphs):
        return "\n".join(f"{'  ' * level}- {text}" for level, text in paragraphs)
    return "\n\n".join(text for _, text in paragraphs)


def _chart(chart: Any) -> str:
    """A chart's numbers as a table with a row for each category and a column for each series."""
    title = one_line(_text(chart.chart_title.text_frame)) if chart.has_title else ""
    series = [one for plot in chart.plots for one in plot.series]
    categories = [str(label) for plot in list(chart.plots)[:1] for label in plot.categories]
    rows = [["", *(one.name or "" for one in series)]]
    for at, label in enumerate(categories[:_MAX_CHART_POINTS]):
        rows.append([label, *(_value(one.values, at) for one in series)])
    return f"{title}\n\n{pipe_table(rows)}"


def _value(values: Any, at: int) -> str:
    value = values[at] if at < len(values) else None
    return "" if value is None else _plain(value)


def _diagram(shape: Any) -> str:
    """The texts of a SmartArt graphic as list items, in the order of its data."""
    ids = next(shape.element.iter("{*}relIds"), None)
    relation = None if ids is None else shape.part.rels.get(attribute(ids, "dm"))
    if relation is None or relation.is_external:
        return ""
    try:
        diagram = parse_part(relation.target_part.blob)
    except SyntaxError:  # of the XML
        return ""
    _choose_alternatives(diagram)
    points = diagram.iter("{*}pt")
    nodes = (point.iterfind("{*}t/{*}p") for point in points if _is_node(point))
    texts = (one_line(" ".join(map(_paragraph_text, paragraphs))) for paragraphs in nodes)
    return "\n".join(f"- {text}" for text in texts if text)


def _is_node(point: Any) -> bool:
    """Whether it is what the author wrote, rather than an arrow or a copy for the layout."""
    return point.get("type", "node") in ("node", "asst")


_MAX_CELLS = 20_000_000  # including empty cells: a file of a few kilobytes can declare billions


def read_xlsx(data: bytes) -> Content:
    """Read the values that the sheets show, without empty rows and columns.

    For formulas, the last saved result is read. Lines above the table that have only one cell, such
    as a title, become paragraphs before it.
    """
    from openpyxl import load_workbook  # type: ignore[import-untyped]

    book = load_workbook(open_archive(data, ".xlsx"), read_only=True, data_only=True)
    try:
        visited = _Counter()
        sheets = [(sheet.title, _rows(sheet, visited)) for sheet in book.worksheets]
        text = "\n\n".join(_sheet(title, rows) for title, rows in sheets if rows)
        return Content(text, book.properties.title or "")
    finally:
        book.close()


class _Counter:
    """Counts and limits the cells visited in one file."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, cells: int) -> None:
        self._count += 1 + cells
        if self._count > _MAX_CELLS:
            raise UnreadableError(
                _("more than {max_cells} million cells: split the file").format(
                    max_cells=_MAX_CELLS // 10**6
                )
            )


def _rows(sheet: Any, visited: _Counter) -> list[list[str]]:
    sheet.reset_dimensions()  # the declared dimensions are often wrong
    rows = []
    for row in sheet.iter_rows():
        visited.add(len(row))
        texts = [_cell_text(cell) for cell in row]
        if any(texts):
            rows.append(texts)
    return without_empty_columns(rows)


def _sheet(title: str, rows: list[list[str]]) -> str:
    width = max(map(len, rows))
    above = 0
    if width > 1:
        above = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    lines = [one_line(text) for row in rows[:above] for text in row if text]
    return "\n\n".join((heading(1, title), *lines, pipe_table(rows[above:])))


def _cell_text(cell: Any) -> str:
    value = cell.value
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, cell.number_format or "")
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)


# "50%" as text, not as a percentage, is written 0"%" or 0\%; _ and * precede padding.
_PERCENT = re.compile(r'(?P<factor>%)|(?P<text>" *%"|\\%)|"[^"]*"|[\\_*].')
_MAX_PLAIN = 25  # characters


def _number(value: float, number_format: str) -> str:
    """The number, with a percent sign if the cell shows one after it."""
    factor, unit = _percentage(number_format)
    return _plain(value * factor) + unit


@lru_cache
def _percentage(number_format: str) -> tuple[int, str]:
    """What the format multiplies a number by, and the percent sign that it shows, or ""."""
    kinds = {match.lastgroup for match in _PERCENT.finditer(number_format)}
    return 100 if "factor" in kinds else 1, "%" if kinds & {"factor", "text"} else ""


def _plain(value: float) -> str:
    """A number with the 15 significant digits that Office stores, without an exponent if short."""
    if isinstance(value, int):
        return str(value)
    short = f"{value:.15g}"
    text = format(Decimal(short), "f")
    return text if len(text) <= _MAX_PLAIN else short
