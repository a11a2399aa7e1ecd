"""Generated documents of one to three pages in English, Korean, and Japanese."""

import random
from collections.abc import Sequence
from html import escape
from pathlib import Path

from benchmarks.answering import lines_by_script

PAGES = (1, 2, 3)
SHARES = (0.6, 0.3, 0.1)
"""How many documents have that many pages."""
PAGE_CHARS = {"latin": 1600, "korean": 800, "japanese": 800}
SECTION_SHARE = 0.5
DOCX_EVERY, PDF_EVERY, HTML_EVERY = 5, 7, 11


class Writer:
    """Writes documents from the lines of the samples; equal seeds yield equal documents."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._lines = lines_by_script()
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, count: int) -> None:
        """Write that many numbered documents in turns of the languages."""
        for number in range(count):
            self.write_one(number)

    def write_one(self, number: int) -> Path:
        """Write the document with that number, with new text each time."""
        script = list(PAGE_CHARS)[number % len(PAGE_CHARS)]
        title, sections = self._text(script, number)
        if number % DOCX_EVERY == 0:
            return _write_docx(self._folder / f"{number:05}.docx", title, sections)
        if number % PDF_EVERY == 0 and script == "latin":
            return _write_pdf(self._folder / f"{number:05}.pdf", title, sections)
        if number % HTML_EVERY == 0:
            return _write_text(self._folder / f"{number:05}.html", _html(title, sections))
        return _write_text(self._folder / f"{number:05}.md", _markdown(title, sections))

    def _text(self, script: str, number: int) -> tuple[str, list[tuple[str, str]]]:
        lines, pages = self._lines[script], self._random.choices(PAGES, SHARES)[0]
        chars = round(PAGE_CHARS[script] * SECTION_SHARE)
        sections = [
            (self._random.choice(lines)[:40], self._section(lines, chars))
            for _ in range(round(pages / SECTION_SHARE))
        ]
        return f"{self._random.choice(lines)[:30]} {number}", sections

    def _section(self, lines: Sequence[str], chars: int) -> str:
        text = ""
        while len(text) < chars:
            text += self._random.choice(lines) + "\n"
        return text[:chars]


def _write_text(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def _markdown(title: str, sections: Sequence[tuple[str, str]]) -> str:
    parts = [f"## {heading}\n\n{text}" for heading, text in sections]
    return "\n\n".join([f"# {title}", *parts])


def _html(title: str, sections: Sequence[tuple[str, str]]) -> str:
    parts = [f"<h2>{escape(heading)}</h2><p>{escape(text)}</p>" for heading, text in sections]
    return f"<html><title>{escape(title)}</title><body>{''.join(parts)}</body></html>"


def _write_docx(file: Path, title: str, sections: Sequence[tuple[str, str]]) -> Path:
    import docx

    document = docx.Document()
    document.add_heading(title)
    for heading, text in sections:
        document.add_heading(heading, 2)
        document.add_paragraph(text)
    document.save(str(file))
    return file


def _write_pdf(file: Path, title: str, sections: Sequence[tuple[str, str]]) -> Path:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    styles = getSampleStyleSheet()
    parts = [Paragraph(escape(title), styles["Title"])]
    for heading, text in sections:
        parts += [Paragraph(escape(heading), styles["Heading2"]), Paragraph(escape(text))]
    SimpleDocTemplate(str(file)).build(parts)
    return file
