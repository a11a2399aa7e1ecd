"""Measures how much of real pages the conversion keeps.

The pages are read from `FOOTNOTE_EVAL_DATA`, or ../shared/data. They are rendered HTML, so the
test counts words, headings, tables, and code blocks in the page and in the Markdown. It converts
each page twice: as HTML, and as storage format, whose elements are mostly those of HTML.
`pytest -rP` prints the figures. The HTML reader loses only the names of months and markers in
one SVG drawing of a roadmap; the storage format contains them as text.
"""

import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from loaders.confluence.storage_format import to_markdown as storage_to_markdown
from loaders.formats import html
from tests.loaders.confluence.storage_format.site import Nowhere

ROOT = Path(__file__).parents[4]
DATA = Path(os.environ.get("FOOTNOTE_EVAL_DATA", ROOT.parent / "shared" / "data"))
PAGES = sorted((DATA / "documents" / "confluence").glob("*.html"))
HIDDEN = "style, script, button, .hidden, [hidden]"
WORD = re.compile(r"\w+")
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
TABLE_RULE = re.compile(r"^\| ---", re.MULTILINE)
FENCE = re.compile(r"^\s*```", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not PAGES, reason=f"no pages in {DATA}/documents/confluence: set FOOTNOTE_EVAL_DATA"
)
READERS = {
    "html": lambda page: html.to_markdown(page)[0],
    "storage": lambda page: storage_to_markdown(
        BeautifulSoup(page, "lxml").body.decode_contents(), Nowhere()
    ),
}


def visible(page):
    """The page as a browser shows it, without interactive controls."""
    soup = BeautifulSoup(page, "html.parser")
    for element in soup.select(HIDDEN):
        element.extract()
    return soup


def tables(soup):
    """Count tables with more than one column; the others only frame a picture or a box."""
    return sum(
        any(len(row(["td", "th"])) > 1 for row in table("tr")) and bool(table.text.strip())
        for table in soup("table")
    )


def figures(page, markdown):
    soup = visible(page)
    words = Counter(WORD.findall(soup.get_text(" ")))
    common = words & Counter(WORD.findall(markdown))
    return {
        "words": (common.total(), words.total()),
        "headings": (
            len(HEADING.findall(markdown)),
            sum(bool(each.text.strip()) for each in soup(re.compile("^h[1-6]$"))),
        ),
        "tables": (len(TABLE_RULE.findall(markdown)), tables(soup)),
        "code": (len(FENCE.findall(markdown)) // 2, len(soup("pre"))),
    }


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem[-6:])
def test_real_pages_keep_words_headings_tables_and_code(path, reader):
    page = path.read_text(encoding="utf-8")
    counts = figures(page, READERS[reader](page))
    for name, (actual, expected) in counts.items():
        sys.stdout.write(f"{path.stem[-6:]} as {reader}: {actual} of {expected} {name}\n")
    actual, expected = counts.pop("words")
    assert actual >= 0.95 * expected
    assert {name: actual for name, (actual, _) in counts.items()} == {
        name: expected for name, (_, expected) in counts.items()
    }
