"""The client waits, asks again, gives up in time and says why."""

import pytest

from domain import DocumentRef
from errors import SourceError, SourceUnavailableError, UnreadableError
from loaders.confluence.client import MAX_RETRY_AFTER_S, WHO, ConfluenceClient
from loaders.confluence.confluence_login import Login, LoginKind
from loaders.confluence.responses import ContentRefusedError
from loaders.retries import MAX_ATTEMPTS
from tests.fakes.confluence import EMAIL, PASSWORD, FakeConfluence
from tests.fakes.confluence_site import KIM
from tests.fakes.faults import PASSING, Fault, Faults, no_faults
from tests.loaders.confluence.reading import client_of, login_to, pages_of, refs_of

SEARCH = "rest/api/content/search"


class StoppedError(Exception):
    """Stands for a person who ends the work while it waits."""


@pytest.mark.parametrize("kind", PASSING)
def test_what_passes_is_asked_again(fake, kind):
    fake.faults = Faults(share=1, kinds=[kind], at_most=2, slow_seconds=0)
    waited = []
    assert client_of(fake, waited).get(WHO)["displayName"] == "Kim Minji"
    assert len(fake.requests) == (1 if kind is Fault.SLOW else 3)
    assert len(waited) == len(fake.requests) - 1


@pytest.mark.parametrize("asked", [0, 7, MAX_RETRY_AFTER_S])
def test_it_waits_as_long_as_it_is_asked_to(server, asked):
    waited = []
    server.faults = Faults(
        share=1, kinds=[Fault.TOO_MANY_RETRY_AFTER], at_most=1, retry_after=int(asked)
    )
    client_of(server, waited).get(WHO)
    assert waited == [(asked, "Confluence asked to wait (429)")]


def test_asked_to_wait_for_long_it_gives_up_at_once_and_tells_how_long(server):
    server.faults = Faults(share=1, kinds=[Fault.TOO_MANY_RETRY_AFTER], retry_after=3600)
    waited = []
    with pytest.raises(SourceUnavailableError, match="asked to wait") as refused:
        client_of(server, waited).get(WHO)
    assert refused.value.retry_after_s == 3600
    assert (waited, len(server.requests)) == ([], 1)


def test_without_being_told_it_waits_longer_each_time_and_gives_up(server):
    server.faults = Faults(share=1, kinds=[Fault.UNAVAILABLE], in_a_row=99)
    waited = []
    with pytest.raises(SourceUnavailableError, match=r"busy or failing \(503\)\. Try again later"):
        client_of(server, waited).get(WHO)
    assert len(server.requests) == MAX_ATTEMPTS
    for attempt, (seconds, _) in enumerate(waited):
        assert 0.5 * 2**attempt <= seconds <= 1.5 * 2**attempt


def test_a_person_can_end_the_waiting(server):
    server.faults = Faults(share=1, kinds=[Fault.UNAVAILABLE])

    def stop(seconds, why):
        raise StoppedError(why)

    client = ConfluenceClient(server.url, client_of(server)._login, stop)
    with pytest.raises(StoppedError):
        client.get(WHO)
    assert len(server.requests) == 1


def test_a_site_that_is_not_there_is_told_as_unavailable(fake):
    client = client_of(fake)
    client.get(WHO)
    fake.unplug()
    with pytest.raises(SourceUnavailableError, match="can't be reached"):
        client.get(WHO)
    assert not client.answers()
    fake.plug()
    assert client.answers()


def test_a_page_to_sign_in_names_single_sign_on(fake):
    fake.faults = Faults(share=1, kinds=[Fault.LOGIN_PAGE])
    with pytest.raises(SourceError, match=r"login page.*\(SSO\)") as raised:
        client_of(fake).get(WHO)
    assert not raised.value.retryable
    assert len(fake.requests) == 1


def test_wrong_credentials_are_named_without_the_secret(fake):
    kind = LoginKind.CLOUD if fake.cloud else LoginKind.TOKEN
    client = ConfluenceClient(fake.url, Login(kind, EMAIL, "wr0ng"), lambda seconds, why: None)
    with pytest.raises(SourceError, match="refused the credentials") as raised:
        client.get(WHO)
    assert "wr0ng" not in str(raised.value)
    assert len(fake.requests) == 1


def test_a_password_signs_in_to_a_server(server):
    login = Login(LoginKind.BASIC, KIM, PASSWORD)
    client = ConfluenceClient(server.url, login, lambda seconds, why: None)
    assert client.get(WHO)["displayName"] == "Kim Minji"


def test_a_password_may_be_in_any_script_and_is_shown_by_no_error(server, monkeypatch):
    client = ConfluenceClient(
        server.url, Login(LoginKind.BASIC, KIM, "비밀번호"), lambda seconds, why: None
    )
    with pytest.raises(SourceError, match="refused the credentials"):
        client.get(WHO)
    monkeypatch.setattr("tests.fakes.confluence.PASSWORD", "비밀번호")
    assert client.get(WHO)["displayName"] == "Kim Minji"


@pytest.mark.parametrize("secret", ["토큰", "abc\ndef", "abc\x7f"])
def test_a_token_that_can_be_none_is_refused_without_being_shown(server, secret):
    login = Login(LoginKind.TOKEN, "", secret)
    with pytest.raises(SourceError, match="copy it once more") as raised:
        ConfluenceClient(server.url, login, lambda seconds, why: None).get(WHO)
    assert secret not in str(raised.value)
    assert not server.requests


@pytest.mark.parametrize("answer", [{}, {"message": "busy"}, {"results": []}])
def test_an_answer_that_is_no_page_is_asked_for_again(server, monkeypatch, answer):
    server.add_space("DOC")
    page, client, answers = server.add("DOC", "Page"), client_of(server), [answer]
    whole = client._data
    monkeypatch.setattr(client, "_data", lambda *asked: answers.pop() if answers else whole(*asked))
    assert client.content(page, {})["title"] == "Page"


@pytest.mark.parametrize("results", [None, [5], [{}], "abc"])
def test_an_answer_that_is_no_listing_is_no_empty_one(server, monkeypatch, results):
    client = client_of(server)
    monkeypatch.setattr(client, "_data", lambda path, params: {"results": results})
    with pytest.raises(SourceUnavailableError, match="not the requested listing"):
        [*client.each(SEARCH, {})]


def test_what_is_not_there_is_refused_at_once_with_confluences_words(fake):
    with pytest.raises(ContentRefusedError, match="No content found") as raised:
        client_of(fake).get("rest/api/content/77")
    assert raised.value.status == 404
    assert len(fake.requests) == 1


def test_a_listing_is_followed_to_its_end(fake):
    fake.add_space("DOC")
    ids = [fake.add("DOC", f"Page {number}") for number in range(23)]
    found = client_of(fake).each(SEARCH, {"cql": "type = page order by created", "limit": 5})
    assert [page["id"] for page in found] == ids
    assert len(fake.requests) == 5


def test_a_listing_is_asked_for_as_it_is_used(fake):
    fake.add_space("DOC")
    for number in range(23):
        fake.add("DOC", f"Page {number}")
    next(client_of(fake).each(SEARCH, {"cql": "type = page", "limit": 5}))
    assert len(fake.requests) == 1


def test_a_listing_that_leads_in_a_circle_ends_with_its_cursor_named(fake):
    fake.add_space("DOC")
    fake.add("DOC", "Page")
    fake.repeats_cursor = True
    with pytest.raises(SourceError, match=r"leads back to where it was \(/rest/api/content/search"):
        [*client_of(fake).each(SEARCH, {"cql": "type = page"})]
    assert len(fake.requests) < 4


@pytest.mark.parametrize("results", [[], [{"id": "1"}, {"id": "2"}]])
def test_a_listing_that_brings_the_same_or_nothing_again_and_again_ends(
    server, monkeypatch, results
):
    client, asked = client_of(server), []

    def answer(path, params):
        asked.append(path)
        return {"results": results, "_links": {"next": f"/rest?start={len(asked)}"}}

    monkeypatch.setattr(client, "_data", answer)
    with pytest.raises(SourceError, match="leads back"):
        [*client.each(SEARCH, {})]
    assert len(asked) < 60


@pytest.mark.parametrize("link", ["https://elsewhere.example/rest", "//elsewhere.example/rest"])
def test_no_listing_leads_to_another_site(server, link):
    with pytest.raises(SourceError, match="leads elsewhere"):
        client_of(server)._below(link)


def test_links_are_followed_with_or_without_the_context(fake):
    client = client_of(fake)
    context = "/wiki" if fake.cloud else "/confluence"
    for link in ("/rest/a?b=c", f"{context}/rest/a?b=c", f"{client.url}/rest/a?b=c"):
        assert client._below(link) == "rest/a?b=c"


def test_addresses_for_people_are_not_those_of_the_gateway_for_programs(monkeypatch):
    with FakeConfluence(cloud=False, context="/ex/confluence/ab-1/wiki") as fake:
        monkeypatch.setattr(FakeConfluence, "url", "https://acme.atlassian.net/wiki")
        fake.add_space("DOC")
        fake.add("DOC", "Page")
        client = ConfluenceClient(
            f"{fake.origin}/ex/confluence/ab-1", login_to(fake), lambda seconds, why: None
        )
        [*client.each(SEARCH, {"cql": "type = page"})]
        assert client.address("/x") == "https://acme.atlassian.net/wiki/x"


def attached(fake, data, name="notes.txt"):
    fake.add_space("DOC")
    key = fake.attach(fake.add("DOC", "Page"), name, data)
    link = client_of(fake).get(f"rest/api/content/{key}")["_links"]["download"]
    fake.requests.clear()
    return link


@pytest.mark.parametrize("kind", [fault for fault in PASSING if fault is not Fault.BROKEN_JSON])
def test_a_download_that_breaks_off_begins_anew(fake, kind):
    data = bytes(range(256)) * 4000
    link = attached(fake, data)
    fake.faults = Faults(share=1, kinds=[kind], at_most=2, slow_seconds=0)
    assert client_of(fake).download(link, size=len(data), max_bytes=2**21) == data


def test_a_download_ends_at_the_limit_whatever_size_was_told(fake):
    link = attached(fake, b"x" * 3000)
    with pytest.raises(UnreadableError, match=r"larger than the limit of 0\.0 MiB"):
        client_of(fake).download(link, size=None, max_bytes=2000)


def test_a_page_to_sign_in_is_not_taken_for_a_file(fake):
    link = attached(fake, b"x" * 3000)
    fake.faults = Faults(share=1, kinds=[Fault.LOGIN_PAGE])
    with pytest.raises(SourceError, match="login page"):
        client_of(fake).download(link, size=3000, max_bytes=9000)


def test_a_file_that_looks_like_a_page_is_a_file(fake):
    data = b"<!DOCTYPE html><p>Log in to nothing"
    link = attached(fake, data, "page.html")
    assert client_of(fake).download(link, size=len(data), max_bytes=9000) == data


def test_one_fifth_of_faulty_answers_changes_nothing_but_the_number_of_requests(fake):
    fake.add_space("DOC")
    for number in range(60):
        fake.add("DOC", f"Page {number}", f"<p>Text {number}</p>")
    fake.faults = Faults(seed=3, share=0.2, slow_seconds=0)
    pages = pages_of(fake)
    texts = [pages.read(ref).page_content for ref in refs_of(pages.list()).values()]
    assert texts == [f"Text {number}" for number in range(60)]
    assert fake.faults.counts.total() > 8
    fake.faults = no_faults()
    assert pages.read(DocumentRef(next(iter(fake.visible())), "", "")).page_content == "Text 0"
