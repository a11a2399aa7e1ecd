"""Addresses of sites as users paste them, and logins that do not reveal their secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import SourceError
from loaders.confluence.confluence_login import Login, LoginKind, site_url


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("https://acme.atlassian.net", "https://acme.atlassian.net/wiki"),
        ("acme.atlassian.net/", "https://acme.atlassian.net/wiki"),
        ("https://acme.atlassian.net/wiki/home", "https://acme.atlassian.net/wiki"),
        (
            "https://acme.atlassian.net/wiki/spaces/DOC/pages/1/T?a=b#c",
            "https://acme.atlassian.net/wiki",
        ),
        ("https://acme.atlassian.net/jira/software", "https://acme.atlassian.net/wiki"),
        (
            "https://api.atlassian.com/ex/confluence/ab-1/wiki/rest/api/space",
            "https://api.atlassian.com/ex/confluence/ab-1/wiki",
        ),
        ("https://docs.acme.com", "https://docs.acme.com"),
        ("  docs.acme.com:8090/confluence/ ", "https://docs.acme.com:8090/confluence"),
        ("http://h/confluence/display/DOC/Title", "http://h/confluence"),
        ("http://h/confluence/pages/viewpage.action?pageId=1", "http://h/confluence"),
        ("http://h/login.action?os_destination=%2F", "http://h"),
        ("http://h/confluence/users/viewmyprofile.action", "http://h/confluence"),
        ("http://h/confluence/collector/pages.action?key=DOC", "http://h/confluence"),
        ("http://h/confluence/spacedirectory/view.action", "http://h/confluence"),
        ("http://h/wiki/x/AbCd", "http://h/wiki"),
        ("http://h/a/b/rest/api", "http://h/a/b"),
        ("http://h/homes", "http://h/homes"),
        ("http://[::1]:80/wiki", "http://[::1]:80/wiki"),
        ("HTTP://Docs.Acme.COM/wiki", "http://docs.acme.com/wiki"),
        ("https://kim:secret@docs.acme.com/", "https://docs.acme.com"),
    ],
)
def test_any_address_of_a_site_leads_to_its_base_url(address, site):
    assert site_url(address) == site
    assert site_url(site) == site


@pytest.mark.parametrize(
    "address",
    [
        *("", "  ", "ftp://h/wiki", "https://", "our wiki", "h/our wiki", "h/a /", "h/a\\b"),
        *("http://h:x", "http://[1", "a..b", "0" * 64),
    ],
)
def test_invalid_addresses_are_rejected_with_an_example(address):
    with pytest.raises(SourceError, match=r"such as https://company\.atlassian\.net/wiki"):
        site_url(address)


@given(st.text(max_size=60))
def test_any_text_is_rejected_or_becomes_a_stable_address(text):
    try:
        site = site_url(text)
    except SourceError:
        return
    assert site_url(site) == site
    assert not site.endswith("/")


def test_the_repr_of_a_login_does_not_contain_the_secret():
    assert "s3cret" not in repr(Login(LoginKind.CLOUD, "kim@example.com", "s3cret"))
