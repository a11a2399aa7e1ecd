"""A third-party client reads the fake correctly, which verifies the fake."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.fakes.confluence import ACCESS_TOKEN, API_TOKEN, EMAIL, FakeConfluence

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-oracle" / "bin" / "python"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / ".venv-oracle" / ".ready").exists(),
        reason="the second client is not installed: run `make .venv-oracle/.ready`",
    ),
]


@pytest.fixture(params=["cloud", "server"])
def site(request):
    with FakeConfluence(cloud=request.param == "cloud", context="/confluence") as fake:
        fill(fake)
        yield fake
    assert fake.refused == []


def fill(fake):
    """Two spaces with more pages than one response holds, and content that must stay invisible."""
    for key in ("DOC", "HR", "OLD"):
        fake.add_space(key)
    top = fake.add("DOC", "Handbook", "<h1>Rules &amp; advice</h1><p>Ask <b>first</b></p>")
    for n in range(60):
        labels = ("public",) if n % 2 else ("draft",)
        fake.add("DOC", f"Page {n}", f"<p>The text of {n}</p>", top, labels=labels)
    leave = fake.add("HR", "휴가 규정", "<p>연차는 15일입니다.</p>", labels=("public",))
    fake.comment(leave, "<p>반차도 됩니까?</p>")
    fake.rename(leave, "휴가와 반차")
    fake.restrict(fake.add("HR", "Wages", "<p>secret</p>", labels=("public",)))
    fake.trash(fake.add("HR", "Dropped", "<p>dropped</p>", labels=("public",)))
    fake.add("OLD", "Long ago", "<p>old</p>", labels=("public",))
    fake.archive_space("OLD")


def read(site, **load):
    """The pages that the second client reads, by id."""
    secret = {"username": EMAIL, "api_key": API_TOKEN} if site.cloud else {"token": ACCESS_TOKEN}
    arguments = {"url": site.url, "cloud": site.cloud, "credentials": secret, "load": load}
    result = subprocess.run(
        [PYTHON, ROOT / "tests" / "fakes" / "read_confluence.py"],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    pages = json.loads(result.stdout)
    assert len({page["id"] for page in pages}) == len(pages), "no page is returned twice"
    return {page["id"]: (page["title"], page["text"]) for page in pages}


def visible(site, *, only):
    return {id: (page.title, plain(page.text)) for id, page in site.visible().items() if only(page)}


def plain(storage):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", storage)).split()).replace(
        "first .", "first ."
    )


def test_a_space_is_read_page_by_page(site):
    documents = read(site, space_key="DOC", limit=25)
    assert documents == visible(site, only=lambda page: page.space == "DOC")
    assert len(documents) == 61


def test_pages_are_found_by_cql(site):
    documents = read(site, cql='type = page and space in ("DOC", "HR")', limit=25)
    assert documents == visible(site, only=lambda page: True)
    assert len(documents) == 62


def test_pages_are_found_by_label(site):
    documents = read(site, label="public", limit=20)
    assert documents == visible(site, only=lambda page: "public" in page.labels)
    assert len(documents) == 31


def test_pages_are_read_by_id_with_their_comments(site):
    [(id, page)] = visible(site, only=lambda page: page.space == "HR").items()
    title, text = page
    assert read(site, page_ids=[id], include_comments=True) == {
        id: (title, text + "반차도 됩니까?")
    }
