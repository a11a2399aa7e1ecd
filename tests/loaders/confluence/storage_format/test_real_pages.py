"""How much of real pages is kept: `FOOTNOTE_EVAL_DATA`, or ../shared/data, holds them.

They come as the site renders them, so their words, headings, tables and code are counted in the
rendered page and in the Markdown made of it: once as HTML, once as if it were storage format,
whose elements are HTML's for the most part. `pytest -rP` prints the figures. What HTML loses are
the names of months and markers in one drawing (svg) of a roadmap; the storage format has words.
"""

import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from loaders.confluence.storage_format import to_markdown as of_storage
from loaders.formats import html
from tests.loaders.confluence.storage_format.site import Nowhere

ROOT = Path(__file__).parents[4]
DATA = Path(os.environ.get("FOOTNOTE_EVAL_DATA", ROOT.parent / "shared" / "data"))
PAGES = sorted((DATA / "documents" / "confluence").glob("*.html"))
UNSEEN = "style, script, button, .hidden, [hidden]"
WORD = re.compile(r"\w+")
HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
TABLE_RULE = re.compile(r"^\| ---", re.MULTILINE)
FENCE = re.compile(r"^\s*```", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not PAGES, reason=f"no pages in {DATA}/documents/confluence: set FOOTNOTE_EVAL_DATA"
)
READERS = {
    "html": lambda page: html.to_markdown(page)[0],
    "storage": lambda page: of_storage(
        BeautifulSoup(page, "lxml").body.decode_contents(), Nowhere()
    ),
}


def shown(page):
    """The page as a browser shows it, without the controls that only work there."""
    soup = BeautifulSoup(page, "html.parser")
    for hidden in soup.select(UNSEEN):
        hidden.extract()
    return soup


def tables(soup):
    """Tables of rows and columns: those of one cell a row frame a picture or a box."""
    return sum(
        any(len(row(["td", "th"])) > 1 for row in table("tr")) and bool(table.text.strip())
        for table in soup("table")
    )


def figures(page, markdown):
    soup = shown(page)
    words = Counter(WORD.findall(soup.get_text(" ")))
    kept = words & Counter(WORD.findall(markdown))
    return {
        "words": (kept.total(), words.total()),
        "headings": (
            len(HEADING.findall(markdown)),
            sum(bool(each.text.strip()) for each in soup(re.compile("^h[1-6]$"))),
        ),
        "tables": (len(TABLE_RULE.findall(markdown)), tables(soup)),
        "code": (len(FENCE.findall(markdown)) // 2, len(soup("pre"))),
    }


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem[-6:])
def test_a_real_page_keeps_its_words_headings_tables_and_code(path, reader):
    page = path.read_text(encoding="utf-8")
    found = figures(page, READERS[reader](page))
    for name, (kept, there) in found.items():
        sys.stdout.write(f"{path.stem[-6:]} as {reader}: {kept} of {there} {name}\n")
    kept, there = found.pop("words")
    assert kept >= 0.95 * there
    assert {name: kept for name, (kept, _) in found.items()} == {
        name: there for name, (_, there) in found.items()
    }
