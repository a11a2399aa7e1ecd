"""The account, the spaces that it can see, and the pages that addresses refer to."""

import pytest

from domain.errors import SourceError
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.confluence_selection import ConfluenceSelection
from loaders.confluence.site import Site, SpaceState, UnknownPageError
from tests.loaders.confluence.reading import LOOPBACK, client_of, login_to


def site_of(fake):
    return Site(client_of(fake), ConfluenceSelection())


def test_the_account_has_a_name(fake):
    assert site_of(fake).user() == "Kim Minji"


def test_only_visible_spaces_are_listed(fake):
    for number in range(230):
        fake.add_space(f"S{number:03}")
    fake.hide_space("S007")
    keys = [space["key"] for space in site_of(fake).spaces()]
    assert len(keys) == 229
    assert "S007" not in keys


def test_the_state_of_each_space_is_requested_once(fake):
    for key in ("DOC", "OLD", "SECRET", "~kim"):
        fake.add_space(key)
    fake.archive_space("OLD")
    fake.hide_space("SECRET")
    site = site_of(fake)
    states = {key: site.state_of(key) for key in ("DOC", "OLD", "SECRET", "NONE", "~kim")}
    assert states == {
        "DOC": SpaceState.CURRENT,
        "OLD": SpaceState.ARCHIVED,
        "SECRET": SpaceState.HIDDEN,
        "NONE": SpaceState.HIDDEN,
        "~kim": SpaceState.CURRENT,
    }
    assert site.state_of("DOC") == SpaceState.CURRENT
    assert len(fake.requests) == 5


def test_pages_are_found_by_space_and_title(fake):
    fake.add_space("DOC")
    page = fake.add("DOC", 'A "B" & C')
    site = site_of(fake)
    assert site.page_id(f"{fake.url}/display/DOC/A+%22B%22+%26+C") == page
    with pytest.raises(UnknownPageError, match="is not a page that this account can see"):
        site.page_id(f"{fake.url}/display/DOC/Nowhere")
    with pytest.raises(UnknownPageError):
        site.page_id("A title alone")


def test_a_wrong_address_is_reported(fake):
    client = ConfluenceClient(
        f"{fake.origin}/other", login_to(fake), lambda seconds, why: None, LOOPBACK
    )
    with pytest.raises(SourceError, match=r"There is no Confluence at http.*/other: check"):
        Site(client, ConfluenceSelection()).user()


def test_an_account_without_access_is_reported(fake):
    fake.denies_access = True
    with pytest.raises(SourceError, match=r"not permitted to use Confluence\. Grant this account"):
        site_of(fake).user()
