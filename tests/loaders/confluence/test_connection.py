"""The test of a connection says who is signed in, what is seen and what is missing."""

import pytest

from errors import SourceError
from loaders.confluence.client import ConfluenceClient
from loaders.confluence.connection import connection
from loaders.confluence.wanted import Scope, Wanted
from tests.loaders.confluence.reading import client_of, login_to


def test_it_names_the_account_and_the_spaces(fake):
    for key in ("DOC", "HR", "SECRET"):
        fake.add_space(key)
    fake.hide_space("SECRET")
    seen = connection(client_of(fake), Wanted())
    assert seen.notes == ("Signed in as Kim Minji.", "Spaces this account sees: 2 (DOC, HR).")
    assert seen.warnings == ()


def test_of_many_spaces_it_names_the_first(fake):
    for number in range(230):
        fake.add_space(f"S{number:03}")
    seen = connection(client_of(fake), Wanted())
    assert seen.space_count == 230
    assert seen.notes[1].startswith("Spaces this account sees: 230 (S000, S001,")
    assert seen.notes[1].endswith("S019, ...).")


def test_an_account_that_sees_nothing_is_told_so(fake):
    assert "sees no space at all" in connection(client_of(fake), Wanted()).notes[1]


def test_it_names_the_spaces_that_are_missing(fake):
    for key in ("DOC", "HR"):
        fake.add_space(key)
    fake.hide_space("HR")
    seen = connection(client_of(fake), Wanted(Scope.SPACES, spaces=("DOC", "HR", "NONE")))
    assert seen.missing == ("HR", "NONE")
    assert seen.warnings[0].startswith("HR is not seen by this account")


def test_it_names_the_pages_that_are_missing(fake):
    fake.add_space("DOC")
    there, trashed = fake.add("DOC", "There"), fake.add("DOC", "Trashed")
    fake.trash(trashed)
    trees = (there, trashed, "999", f"{fake.url}/display/DOC/Nowhere")
    seen = connection(client_of(fake), Wanted(Scope.TREES, trees=trees))
    assert seen.missing == trees[1:]


def test_a_wrong_address_says_that_there_is_no_confluence(fake):
    client = ConfluenceClient(f"{fake.origin}/other", login_to(fake), lambda seconds, why: None)
    with pytest.raises(SourceError, match=r"There is no Confluence at http.*/other: check"):
        connection(client, Wanted())


def test_an_account_without_access_is_told_so(fake):
    fake.denies_access = True
    with pytest.raises(SourceError, match="not permitted to use Confluence"):
        connection(client_of(fake), Wanted())
