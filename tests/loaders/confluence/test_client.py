"""The client retries, gives up after a bounded time, and reports the reason."""

import pytest

from domain import DocumentRef
from domain.errors import SourceError, SourceUnavailableError, UnreadableError
from loaders.confluence.client import MAX_RETRY_AFTER_S, WHO, ConfluenceClient
from loaders.confluence.confluence_login import Login, LoginKind
from loaders.confluence.responses import ContentRefusedError
from loaders.retries import MAX_ATTEMPTS
from tests.fakes.confluence import EMAIL, PASSWORD, FakeConfluence
from tests.fakes.confluence_site import KIM
from tests.fakes.faults import TRANSIENT_FAULTS, Fault, Faults, no_faults
from tests.loaders.confluence.reading import LOOPBACK, client_of, login_to, pages_of, refs_of

SEARCH = "rest/api/content/search"


class StoppedError(Exception):
    """Raised where a user cancels the import during a wait."""


@pytest.mark.parametrize("kind", TRANSIENT_FAULTS)
def test_transient_errors_are_retried(fake, kind):
    fake.faults = Faults(share=1, kinds=[kind], at_most=2, slow_seconds=0)
    waits = []
    assert client_of(fake, waits).get(WHO)["displayName"] == "Kim Minji"
    assert len(fake.requests) == (1 if kind is Fault.SLOW else 3)
    assert len(waits) == len(fake.requests) - 1


@pytest.mark.parametrize("retry_after", [0, 7, MAX_RETRY_AFTER_S])
def test_the_client_waits_as_long_as_retry_after_says(server, retry_after):
    waits = []
    server.faults = Faults(
        share=1, kinds=[Fault.TOO_MANY_RETRY_AFTER], at_most=1, retry_after=int(retry_after)
    )
    client_of(server, waits).get(WHO)
    assert waits == [(retry_after, "Confluence asked to wait (429)")]


def test_a_long_retry_after_fails_at_once_and_reports_the_wait(server):
    server.faults = Faults(share=1, kinds=[Fault.TOO_MANY_RETRY_AFTER], retry_after=3600)
    waits = []
    with pytest.raises(SourceUnavailableError, match="asked to wait") as raised:
        client_of(server, waits).get(WHO)
    assert raised.value.retry_after_s == 3600
    assert (waits, len(server.requests)) == ([], 1)


def test_without_retry_after_waits_grow_until_the_client_gives_up(server):
    server.faults = Faults(share=1, kinds=[Fault.UNAVAILABLE], in_a_row=99)
    waits = []
    with pytest.raises(SourceUnavailableError, match=r"busy or failing \(503\)\. Try again later"):
        client_of(server, waits).get(WHO)
    assert len(server.requests) == MAX_ATTEMPTS
    for attempt, (seconds, _) in enumerate(waits):
        assert 0.5 * 2**attempt <= seconds <= 1.5 * 2**attempt


def test_waiting_can_be_canceled(server):
    server.faults = Faults(share=1, kinds=[Fault.UNAVAILABLE])

    def stop(seconds, why):
        raise StoppedError(why)

    client = ConfluenceClient(server.url, client_of(server)._login, stop, LOOPBACK)
    with pytest.raises(StoppedError):
        client.get(WHO)
    assert len(server.requests) == 1


def test_an_unreachable_site_raises_source_unavailable(fake):
    client = client_of(fake)
    client.get(WHO)
    fake.unplug()
    with pytest.raises(SourceUnavailableError, match="can't be reached"):
        client.get(WHO)
    assert not client.answers()
    fake.plug()
    assert client.answers()


def test_the_error_for_a_login_page_mentions_single_sign_on(fake):
    fake.faults = Faults(share=1, kinds=[Fault.LOGIN_PAGE])
    with pytest.raises(SourceError, match=r"login page.*\(SSO\)") as raised:
        client_of(fake).get(WHO)
    assert not raised.value.retryable
    assert len(fake.requests) == 1


def test_the_error_for_wrong_credentials_does_not_contain_the_secret(fake):
    kind = LoginKind.CLOUD if fake.cloud else LoginKind.TOKEN
    client = ConfluenceClient(
        fake.url, Login(kind, EMAIL, "wr0ng"), lambda seconds, why: None, LOOPBACK
    )
    with pytest.raises(SourceError, match="rejected the credentials") as raised:
        client.get(WHO)
    assert "wr0ng" not in str(raised.value)
    assert len(fake.requests) == 1


def test_a_password_signs_in_to_a_server(server):
    login = Login(LoginKind.BASIC, KIM, PASSWORD)
    client = ConfluenceClient(server.url, login, lambda seconds, why: None, LOOPBACK)
    assert client.get(WHO)["displayName"] == "Kim Minji"


def test_passwords_may_contain_non_ascii_characters(server, monkeypatch):
    client = ConfluenceClient(
        server.url, Login(LoginKind.BASIC, KIM, "비밀번호"), lambda seconds, why: None, LOOPBACK
    )
    with pytest.raises(SourceError, match="rejected the credentials"):
        client.get(WHO)
    monkeypatch.setattr("tests.fakes.confluence.PASSWORD", "비밀번호")
    assert client.get(WHO)["displayName"] == "Kim Minji"


@pytest.mark.parametrize("secret", ["토큰", "abc\ndef", "abc\x7f"])
def test_invalid_tokens_are_rejected_without_showing_them(server, secret):
    login = Login(LoginKind.TOKEN, "", secret)
    with pytest.raises(SourceError, match="copy it again") as raised:
        ConfluenceClient(server.url, login, lambda seconds, why: None, LOOPBACK).get(WHO)
    assert secret not in str(raised.value)
    assert not server.requests


@pytest.mark.parametrize("answer", [{}, {"message": "busy"}, {"results": []}])
def test_a_response_without_a_page_is_retried(server, monkeypatch, answer):
    server.add_space("DOC")
    page, client, answers = server.add("DOC", "Page"), client_of(server), [answer]
    get_data = client._data
    monkeypatch.setattr(
        client, "_data", lambda *args: answers.pop() if answers else get_data(*args)
    )
    assert client.content(page, {})["title"] == "Page"


@pytest.mark.parametrize("results", [None, [5], [{}], "abc"])
def test_a_response_without_a_listing_is_an_error_and_not_an_empty_listing(
    server, monkeypatch, results
):
    client = client_of(server)
    monkeypatch.setattr(client, "_data", lambda path, params: {"results": results})
    with pytest.raises(SourceUnavailableError, match="not return the requested list"):
        [*client.each(SEARCH, {})]


def test_missing_content_fails_at_once_with_the_message_of_confluence(fake):
    with pytest.raises(ContentRefusedError, match="No content found") as raised:
        client_of(fake).get("rest/api/content/77")
    assert raised.value.status == 404
    assert len(fake.requests) == 1


def test_all_pages_of_a_listing_are_read(fake):
    fake.add_space("DOC")
    ids = [fake.add("DOC", f"Page {number}") for number in range(23)]
    results = client_of(fake).each(SEARCH, {"cql": "type = page order by created", "limit": 5})
    assert [page["id"] for page in results] == ids
    assert len(fake.requests) == 5


def test_listings_are_requested_lazily(fake):
    fake.add_space("DOC")
    for number in range(23):
        fake.add("DOC", f"Page {number}")
    next(client_of(fake).each(SEARCH, {"cql": "type = page", "limit": 5}))
    assert len(fake.requests) == 1


def test_a_listing_that_repeats_a_cursor_fails_and_names_the_cursor(fake):
    fake.add_space("DOC")
    fake.add("DOC", "Page")
    fake.repeats_cursor = True
    with pytest.raises(SourceError, match=r"repeats itself \(/rest/api/content/search"):
        [*client_of(fake).each(SEARCH, {"cql": "type = page"})]
    assert len(fake.requests) < 4


@pytest.mark.parametrize("results", [[], [{"id": "1"}, {"id": "2"}]])
def test_endless_listings_without_new_results_fail(server, monkeypatch, results):
    client, paths = client_of(server), []

    def answer(path, params):
        paths.append(path)
        return {"results": results, "_links": {"next": f"/rest?start={len(paths)}"}}

    monkeypatch.setattr(client, "_data", answer)
    with pytest.raises(SourceError, match="repeats itself"):
        [*client.each(SEARCH, {})]
    assert len(paths) < 60


@pytest.mark.parametrize("link", ["https://elsewhere.example/rest", "//elsewhere.example/rest"])
def test_listings_never_follow_links_to_another_site(server, link):
    with pytest.raises(SourceError, match="continues a list outside this site"):
        client_of(server)._below(link)


def test_links_work_with_and_without_the_context_path(fake):
    client = client_of(fake)
    context = "/wiki" if fake.cloud else "/confluence"
    for link in ("/rest/a?b=c", f"{context}/rest/a?b=c", f"{client.url}/rest/a?b=c"):
        assert client._below(link) == "rest/a?b=c"


def test_links_for_users_point_to_the_site_and_not_to_the_api_gateway(monkeypatch):
    with FakeConfluence(cloud=False, context="/ex/confluence/ab-1/wiki") as fake:
        monkeypatch.setattr(FakeConfluence, "url", "https://acme.atlassian.net/wiki")
        fake.add_space("DOC")
        fake.add("DOC", "Page")
        client = ConfluenceClient(
            f"{fake.origin}/ex/confluence/ab-1", login_to(fake), lambda seconds, why: None, LOOPBACK
        )
        [*client.each(SEARCH, {"cql": "type = page"})]
        assert client.address("/x") == "https://acme.atlassian.net/wiki/x"


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "//evil.example/x"])
def test_a_link_of_a_page_never_leads_users_to_a_script_or_another_site(fake, link):
    client = client_of(fake)
    assert client.address(link).startswith(f"{client.url}/")


def download_link(fake, data, name="notes.txt"):
    fake.add_space("DOC")
    key = fake.attach(fake.add("DOC", "Page"), name, data)
    link = client_of(fake).get(f"rest/api/content/{key}")["_links"]["download"]
    fake.requests.clear()
    return link


@pytest.mark.parametrize(
    "kind", [fault for fault in TRANSIENT_FAULTS if fault is not Fault.BROKEN_JSON]
)
def test_interrupted_downloads_are_restarted(fake, kind):
    data = bytes(range(256)) * 4000
    link = download_link(fake, data)
    fake.faults = Faults(share=1, kinds=[kind], at_most=2, slow_seconds=0)
    assert client_of(fake).download(link, size=len(data), max_bytes=2**21) == data


def test_downloads_stop_at_the_size_limit_if_the_size_is_unknown(fake):
    link = download_link(fake, b"x" * 3000)
    with pytest.raises(UnreadableError, match=r"larger than the limit of 0\.0 MiB"):
        client_of(fake).download(link, size=None, max_bytes=2000)


def test_a_login_page_is_not_saved_as_a_file(fake):
    link = download_link(fake, b"x" * 3000)
    fake.faults = Faults(share=1, kinds=[Fault.LOGIN_PAGE])
    with pytest.raises(SourceError, match="login page"):
        client_of(fake).download(link, size=3000, max_bytes=9000)


def test_an_html_attachment_is_not_mistaken_for_a_login_page(fake):
    data = b"<!DOCTYPE html><p>Log in to nothing"
    link = download_link(fake, data, "page.html")
    assert client_of(fake).download(link, size=len(data), max_bytes=9000) == data


def test_a_fifth_of_faulty_responses_changes_nothing_but_the_number_of_requests(fake):
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
