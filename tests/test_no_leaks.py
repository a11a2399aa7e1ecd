"""What a principal may not read appears through no face, and counts in no figure."""

import logging

import pytest

from services.access import Access, Readable
from services.chat.sharing_service import SharingService
from tests.leaks.cases import leaks
from tests.leaks.faces import follow_link
from tests.leaks.page_faces import open_link
from tests.leaks.world import World


@pytest.fixture
def world(build_services, tmp_path, request):
    seed = getattr(request, "param", 1)
    return World(build_services(embed=True, api_requests_per_minute=10**6), tmp_path, seed)


def test_no_face_shows_what_is_hidden(world, caplog):
    caplog.set_level(logging.INFO, "footnote")
    assert leaks(world, 50) == []
    assert not [one for one in world.documents if one.secret in caplog.text]


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 3, 4, 5], indirect=True)
def test_no_face_shows_what_is_hidden_in_many_cases(world):
    assert leaks(world, 500) == []


@pytest.mark.slow
def test_without_the_check_of_sources_the_test_finds_leaks(world, monkeypatch):
    def readable(self, principal):
        everything = {one.id: one for one in self.sources.list()}
        return Readable(everything, (), self.denied(principal))

    monkeypatch.setattr(Access, "readable", readable)
    with pytest.raises(AssertionError):
        assert leaks(world, 200) == []


@pytest.mark.slow
def test_without_the_check_of_documents_the_test_finds_leaks(world, monkeypatch):
    monkeypatch.setattr("services.search.search_scope._without", lambda condition, *_: condition)
    monkeypatch.setattr(Readable, "includes", lambda *_: True)
    with pytest.raises(AssertionError):
        assert leaks(world, 200) == []


@pytest.mark.slow
def test_without_the_check_of_shared_conversations_the_test_finds_leaks(world, monkeypatch):
    monkeypatch.setattr("tests.leaks.cases.FACES", (follow_link, open_link))
    monkeypatch.setattr("services.chat.sharing_service._used", lambda _turn: frozenset())
    assert {one.face for one in leaks(world, 20)} == {"follow_link", "open_link"}


@pytest.mark.slow
def test_without_withholding_the_title_the_test_finds_leaks(world, monkeypatch):
    follow = SharingService.follow

    def with_the_title(self, principal, token):
        conversation = self.links.follow(token).conversation
        return follow(self, principal, token)._replace(title=conversation.title)

    monkeypatch.setattr("tests.leaks.cases.FACES", (follow_link,))
    monkeypatch.setattr(SharingService, "follow", with_the_title)
    assert leaks(world, 20)
