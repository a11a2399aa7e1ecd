"""Presentations as Markdown: a slide is a page, its title a heading."""

from collections.abc import Iterable, Iterator
from typing import Any

from loaders.formats.content import Content, heading, join_pages, one_line, pipe_table
from loaders.formats.ooxml import open_archive

_MAX_CHART_POINTS = 1000
_MAX_HEADING = 200  # characters


def read(data: bytes) -> Content:
    """Read slides: title, texts and tables from top to bottom, then the notes as a quotation."""
    from pptx import Presentation  # slow to import

    presentation = Presentation(open_archive(data, ".pptx"))
    text, pages = join_pages([_slide(slide) for slide in presentation.slides])
    return Content(text, presentation.core_properties.title or "", pages=pages)


def _slide(slide: Any) -> str:
    title = slide.shapes.title
    name = one_line(title.text_frame.text) if title is not None else ""
    # Some put all they have to say into the title's frame: that is not a heading.
    is_heading = 0 < len(name) <= _MAX_HEADING
    blocks = [heading(1, name)] if is_heading else []
    shown = title.shape_id if is_heading else None
    blocks += [_shape(shape) for shape in _flattened(slide.shapes) if shape.shape_id != shown]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text
        blocks += [f"> {one_line(line)}" for line in notes.splitlines() if line.strip()]
    return "\n\n".join(block for block in blocks if block.strip())


def _flattened(shapes: Iterable[Any]) -> Iterator[Any]:
    """Shapes by their place on the slide, those of a group together at the group's place."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _flattened(shape.shapes)
        else:
            yield shape


def _shape(shape: Any) -> str:
    if getattr(shape, "has_table", False):
        return pipe_table([cell.text for cell in row.cells] for row in shape.table.rows)
    if getattr(shape, "has_chart", False):
        return _chart(shape.chart)
    return _text(shape) if shape.has_text_frame else ""


def _text(shape: Any) -> str:
    """A frame's paragraphs: points of a list where the layout makes them so, else lines."""
    paragraphs = [(p.level, one_line(p.text)) for p in shape.text_frame.paragraphs]
    paragraphs = [(level, text) for level, text in paragraphs if text]
    is_list = shape.is_placeholder and len(paragraphs) > 1
    if is_list or any(level for level, _ in paragraphs):
        return "\n".join(f"{'  ' * level}- {text}" for level, text in paragraphs)
    return "\n\n".join(text for _, text in paragraphs)


def _chart(chart: Any) -> str:
    """A chart's numbers as a table: a row for each category, a column for each series."""
    title = one_line(chart.chart_title.text_frame.text) if chart.has_title else ""
    series = [one for plot in chart.plots for one in plot.series]
    categories = [str(label) for plot in list(chart.plots)[:1] for label in plot.categories]
    rows = [["", *(one.name or "" for one in series)]]
    for at, label in enumerate(categories[:_MAX_CHART_POINTS]):
        rows.append([label, *(_value(one.values, at) for one in series)])
    return f"{title}\n\n{pipe_table(rows)}"


def _value(values: Any, at: int) -> str:
    value = values[at] if at < len(values) else None
    return "" if value is None else f"{value:g}"
