"""The figures as lines of text, or as the Markdown of docs/performance.md."""

from collections.abc import Sequence

from benchmarks.measure import Figure, Report, Table, shown


def as_text(where: str, reports: Sequence[Report]) -> str:
    """Ratios and tables before absolute figures: ratios carry over to other machines."""
    lines = [f"Footnote on {where}", "", "RATIOS"]
    for report in reports:
        lines += ["", f"{report.title}: {report.about}", *_figures(report.ratios)]
        lines += [f"  {note}" for note in report.notes]
        for table in report.tables:
            lines += ["", *_table(table)]
    lines += ["", "ABSOLUTE FIGURES"]
    for report in reports:
        lines += ["", report.title, *_figures(report.absolute)] if report.absolute else []
    return "\n".join(lines)


def _figures(figures: Sequence[Figure]) -> list[str]:
    width = max((len(figure.name) for figure in figures), default=0)
    return [f"  {figure.name:<{width}}  {figure}" for figure in figures]


def _table(table: Table) -> list[str]:
    rows = [table.columns, *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.columns))]
    lines = [
        "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
        for row in rows
    ]
    return [table.title, *lines]


def as_markdown(where: str, reports: Sequence[Report]) -> str:
    """A section for each part: what was measured, its tables, figures, and notes."""
    sections = [f"Run on {where}."]
    for report in reports:
        sections += [f"## {report.title}", f"{report.about[0].upper()}{report.about[1:]}."]
        for table in report.tables:
            sections += [f"### {table.title}", _markdown(table.columns, table.rows)]
        for kind, figures in (("ratio", report.ratios), ("figure", report.absolute)):
            if figures:
                rows = [[figure.name, str(figure)] for figure in figures]
                sections.append(_markdown(["what", kind], rows))
        if report.notes:
            sections.append("\n".join(f"- {note}" for note in report.notes))
    return "\n\n".join(sections)


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str | float | None]]) -> str:
    head = [_line(columns), "|---" + "|---:" * (len(columns) - 1) + "|"]
    return "\n".join([*head, *(_line([shown(cell) for cell in row]) for row in rows)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
