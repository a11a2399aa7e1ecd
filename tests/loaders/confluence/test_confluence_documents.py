"""Contents and metadata of documents, and the targets of their links."""

import pytest

from domain import DocumentRef
from domain.errors import (
    NothingToReadError,
    SourceError,
    TemporarilyUnreadableError,
    UnreadableError,
)
from loaders.confluence.confluence_selection import ConfluenceSelection
from loaders.confluence.site import SiteLinks, Users
from tests.fakes.confluence_shapes import account_id, user_key
from tests.fakes.faults import Fault, Faults
from tests.loaders.confluence.reading import client_of, pages_of, refs_of


@pytest.fixture
def docs(fake):
    fake.add_space("DOC", "Documents")
    return fake


def read(fake, key, **options):
    pages = pages_of(fake, **options)
    return pages.read(refs_of(pages.list())[key])


def test_pages_have_complete_metadata(docs):
    top = docs.add("DOC", "Top")
    page = docs.add("DOC", "Title", "<h1>Head</h1><p>x</p>", parent=top, labels=("b", "a"))
    docs.edit(page, "<h1>Head</h1><p>text</p>", by="lee")
    document = read(docs, page)
    assert document.page_content == "# Head\n\ntext"
    metadata = document.metadata
    assert metadata["modified_at"].endswith("Z")
    assert metadata["location"].startswith(docs.url)
    assert metadata["version"].startswith("2/DOC/")
    assert {
        name: metadata[name]
        for name in metadata
        if name not in ("modified_at", "location", "version")
    } == {
        "key": page,
        "title": "Title",
        "format": "confluence",
        "encoding": None,
        "pages": [],
        "warnings": [],
        "page_id": page,
        "space": "DOC",
        "space_name": "Documents",
        "ancestors": ["Top"],
        "ancestor_ids": [top],
        "page_version": 2,
        "author": "Kim Minji",
        "changed_by": "Lee Jun",
        "labels": ["a", "b"],
    }


def test_a_page_without_a_body_is_unreadable_with_a_reason(docs):
    page = docs.add("DOC", "Title", "<p>text</p>")
    docs.lose_body(page)
    with pytest.raises(UnreadableError, match="returned this page without its text") as raised:
        read(docs, page)
    assert not raised.value.retryable


def test_a_page_without_text_is_unreadable_with_a_reason(docs):
    page = docs.add("DOC", "Title", "<p> </p>")
    with pytest.raises(NothingToReadError, match="0 characters: the page has no text"):
        read(docs, page)


def test_a_page_without_a_body_but_with_comments_is_read(docs):
    page = docs.add("DOC", "Title", "<p>text</p>")
    docs.lose_body(page)
    docs.comment(page, "<p>Where is it?</p>")
    document = read(docs, page, selection=ConfluenceSelection(comments=True))
    assert document.page_content.startswith("## Comments")
    assert document.page_content.endswith("Where is it?")
    assert document.metadata["warnings"]


def test_replies_follow_their_comment(docs):
    page = docs.add("DOC", "Title", "<p>text</p>")
    first = docs.comment(page, "<p>one</p>")
    docs.comment(page, "<p>two</p>", by="tanaka")
    reply = docs.comment(page, "<p>one, replied</p>", reply_to=first, by="lee")
    docs.comment(page, "<p>one, replied twice</p>", reply_to=reply)
    text = read(docs, page, selection=ConfluenceSelection(comments=True)).page_content
    lines = [line for line in text.splitlines() if line and "," not in line[:9]]
    order = [text.index(f"\n{comment}\n") for comment in ("one", "one, replied")]
    assert order == sorted(order)
    assert text.index("one, replied twice") < text.index("\ntwo")
    assert "in reply to Lee Jun" in text
    assert lines[:2] == ["text", "## Comments"]


def test_comments_are_requested_only_for_pages_that_have_some(docs):
    page, quiet = docs.add("DOC", "Title", "<p>a</p>"), docs.add("DOC", "Quiet", "<p>b</p>")
    docs.comment(page, "<p>hm</p>")
    pages = pages_of(docs, ConfluenceSelection(comments=True))
    for ref in refs_of(pages.list()).values():
        pages.read(ref)
    assert docs.count(f"{page}/child") == 1
    assert docs.count(f"{quiet}/child") == 0


def test_a_damaged_attachment_is_unreadable_with_a_reason(docs):
    attachment = docs.attach(docs.add("DOC", "Title"), "a.pdf", b"no pdf", "application/pdf")
    with pytest.raises(UnreadableError, match="damaged or not a .pdf file"):
        read(docs, attachment, selection=ConfluenceSelection(attachments=True))


def test_each_user_is_requested_once(docs):
    name = account_id("lee") if docs.cloud else user_key("lee")
    kind = "account-id" if docs.cloud else "userkey"
    mention = f'<p><ac:link><ri:user ri:{kind}="{name}"/></ac:link></p>'
    unknown = mention.replace(name, "nobody")
    keys = [docs.add("DOC", f"Page {number}", mention + unknown) for number in range(3)]
    pages = pages_of(docs)
    for key in keys:
        text = pages.read(DocumentRef(key, "", "")).page_content
        assert "Lee Jun" in text
        assert "unknown user" in text
    calls = [request.params for request in docs.requests if request.path.endswith("/user")]
    assert len(calls) == len({str(params) for params in calls}) < 4


def test_a_page_is_retried_if_a_user_name_is_temporarily_unavailable(docs):
    mention = '<p><ac:link><ri:user ri:account-id="x" ri:userkey="x"/></ac:link></p>'
    page = docs.add("DOC", "Page", mention)
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda path: "/user?" in path
    )
    with pytest.raises(TemporarilyUnreadableError):
        read(docs, page)


def test_links_are_resolved_without_requests(docs):
    client = client_of(docs)
    links = SiteLinks(client, Users(client), "7", "DOC")
    base = docs.url
    assert links.page(None, "A & B", "") == f"{base}/display/DOC/A+%26+B"
    assert links.page("~kim", "안녕", "part 1") == (
        f"{base}/display/~kim/%EC%95%88%EB%85%95#part%201"
    )
    assert links.blog_post("HR", "News", "2026/11/21") == f"{base}/display/HR/2026/11/21/News"
    assert links.blog_post(None, "News", "") == f"{base}/display/DOC/News"
    assert links.content("9") == f"{base}/pages/viewpage.action?pageId=9"
    assert links.attachment("a b.pdf", None, None) == f"{base}/download/attachments/7/a%20b.pdf"
    assert links.attachment("a.pdf", "Page", "HR") == f"{base}/display/HR/Page"
    assert links.space("HR") == f"{base}/display/HR"
    assert docs.requests == []


def test_a_missing_page_raises_a_retryable_error(docs):
    with pytest.raises(UnreadableError) as raised:
        pages_of(docs).read(DocumentRef("404404", "", ""))
    assert raised.value.retryable
    assert isinstance(raised.value, SourceError)
