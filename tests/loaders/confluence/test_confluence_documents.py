"""What is told of a document, and what links in it lead to."""

import pytest

from domain import DocumentRef
from errors import NothingToReadError, SourceError, TemporarilyUnreadableError, UnreadableError
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


def test_a_page_comes_with_all_that_is_known_of_it(docs):
    top = docs.add("DOC", "Top")
    page = docs.add("DOC", "Title", "<h1>Head</h1><p>x</p>", parent=top, labels=("b", "a"))
    docs.edit(page, "<h1>Head</h1><p>text</p>", by="lee")
    document = read(docs, page)
    assert document.page_content == "# Head\n\ntext"
    told = document.metadata
    assert told["modified_at"].endswith("Z")
    assert told["location"].startswith(docs.url)
    assert told["version"].startswith("2/DOC/")
    assert {
        name: told[name] for name in told if name not in ("modified_at", "location", "version")
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


def test_a_page_without_a_body_is_refused_with_the_reason(docs):
    page = docs.add("DOC", "Title", "<p>text</p>")
    docs.lose_body(page)
    with pytest.raises(UnreadableError, match="sent no body") as raised:
        read(docs, page)
    assert not raised.value.retryable


def test_a_page_without_text_is_refused_with_the_reason(docs):
    page = docs.add("DOC", "Title", "<p> </p>")
    with pytest.raises(NothingToReadError, match="0 characters: the page has no text"):
        read(docs, page)


def test_a_page_without_a_body_that_has_comments_is_read_for_them(docs):
    page = docs.add("DOC", "Title", "<p>text</p>")
    docs.lose_body(page)
    docs.comment(page, "<p>Where is it?</p>")
    document = read(docs, page, wanted=ConfluenceSelection(comments=True))
    assert document.page_content.startswith("## Comments")
    assert document.page_content.endswith("Where is it?")
    assert document.metadata["warnings"]


def test_replies_follow_what_they_reply_to(docs):
    page = docs.add("DOC", "Title", "<p>text</p>")
    first = docs.comment(page, "<p>one</p>")
    docs.comment(page, "<p>two</p>", by="tanaka")
    reply = docs.comment(page, "<p>one, replied</p>", reply_to=first, by="lee")
    docs.comment(page, "<p>one, replied twice</p>", reply_to=reply)
    text = read(docs, page, wanted=ConfluenceSelection(comments=True)).page_content
    lines = [line for line in text.splitlines() if line and "," not in line[:9]]
    order = [text.index(f"\n{said}\n") for said in ("one", "one, replied")]
    assert order == sorted(order)
    assert text.index("one, replied twice") < text.index("\ntwo")
    assert "in reply to Lee Jun" in text
    assert lines[:2] == ["text", "## Comments"]


def test_comments_are_asked_for_only_where_there_are_some(docs):
    page, quiet = docs.add("DOC", "Title", "<p>a</p>"), docs.add("DOC", "Quiet", "<p>b</p>")
    docs.comment(page, "<p>hm</p>")
    pages = pages_of(docs, ConfluenceSelection(comments=True))
    for ref in refs_of(pages.list()).values():
        pages.read(ref)
    assert docs.count(f"{page}/child") == 1
    assert docs.count(f"{quiet}/child") == 0


def test_an_attachment_that_is_damaged_is_refused_with_the_reason(docs):
    held = docs.attach(docs.add("DOC", "Title"), "a.pdf", b"no pdf", "application/pdf")
    with pytest.raises(UnreadableError, match="damaged or not really .pdf"):
        read(docs, held, wanted=ConfluenceSelection(attachments=True))


def test_people_are_asked_for_once_each(docs):
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
    asked = [told.params for told in docs.requests if told.path.endswith("/user")]
    assert len(asked) == len({str(params) for params in asked}) < 4


def test_a_name_that_can_t_be_told_now_is_not_left_out_for_good(docs):
    mention = '<p><ac:link><ri:user ri:account-id="x" ri:userkey="x"/></ac:link></p>'
    page = docs.add("DOC", "Page", mention)
    docs.faults = Faults(
        share=1, kinds=[Fault.FAILED], in_a_row=99, only=lambda asked: "/user?" in asked
    )
    with pytest.raises(TemporarilyUnreadableError):
        read(docs, page)


def test_links_lead_to_addresses_without_a_request(docs):
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


def test_a_refused_page_does_not_stop_the_others(docs):
    with pytest.raises(UnreadableError) as raised:
        pages_of(docs).read(DocumentRef("404404", "", ""))
    assert raised.value.retryable
    assert isinstance(raised.value, SourceError)
