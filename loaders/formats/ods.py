"""OpenDocument spreadsheets as Markdown: a heading and a pipe table for each sheet."""

from loaders.formats.content import Content, heading
from loaders.formats.markup import attribute, local
from loaders.formats.odf import Package, table


def read(data: bytes) -> Content:
    """Read what the cells show, sheet by sheet, without empty rows and columns."""
    package = Package(data, ".ods")
    sheets = [node for node in package.body if local(node) == "table"]
    texts = ((attribute(sheet, "name"), table(sheet)) for sheet in sheets)
    text = "\n\n".join(f"{heading(1, name)}\n\n{rows}" for name, rows in texts if rows)
    return Content(text, package.title)
