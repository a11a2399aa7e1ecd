"""Fake Confluence sites: Cloud and Server."""

import pytest

from tests.fakes.confluence import FakeConfluence


@pytest.fixture(params=["cloud", "server"])
def fake(request):
    """An empty site: once Cloud, once Server below a context path."""
    with FakeConfluence(cloud=request.param == "cloud", context="/confluence") as site:
        yield site
        assert not site.refused


@pytest.fixture
def server():
    """An empty Server."""
    with FakeConfluence(cloud=False) as site:
        yield site
        assert not site.refused


@pytest.fixture
def docs(fake):
    """Two spaces: DOC with the tree Top > Middle > Low and a blog post, HR with the page Rules."""
    fake.add_space("DOC")
    fake.add_space("HR")
    top = fake.add("DOC", "Top", "<p>top</p>")
    middle = fake.add("DOC", "Middle", "<p>middle</p>", parent=top, labels=("guide",))
    fake.add("DOC", "Low", "<p>low</p>", parent=middle, labels=("guide", "draft"))
    fake.add("DOC", "News", "<p>news</p>", type="blogpost")
    fake.add("HR", "Rules", "<p>rules</p>", labels=("law",))
    return fake
