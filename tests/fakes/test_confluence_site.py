import pytest

from tests.fakes.confluence_requests import ask, search

pytestmark = pytest.mark.slow


def test_moves_labels_and_comments_keep_the_version(fake):
    a, b = fake.add("DOC", "A"), fake.add("DOC", "B")
    under = fake.add("DOC", "Under", parent=b)
    before = ask(fake, f"content/{b}", expand="version").json()["version"]
    fake.move(b, a)
    fake.label(b, "x")
    fake.comment(b, "<p>hm</p>")
    after = ask(fake, f"content/{b}", expand="version").json()["version"]
    assert after == before
    assert fake.visible()[under].ancestors == ("A", "B")


def test_a_page_moves_to_another_space_with_its_descendants(fake):
    fake.add_space("HR")
    a = fake.add("DOC", "A")
    fake.add("DOC", "B", parent=a)
    fake.attach(a, "c.txt", b"c")
    fake.move(a, space="HR")
    assert search(fake, "space = DOC") == [[]]
    assert search(fake, "space = HR order by title") == [["A", "B", "c.txt"]]


def test_trashed_pages_are_found_only_when_requested(fake):
    page = fake.add("DOC", "A")
    under = fake.add("DOC", "B", parent=page)
    fake.trash(page)
    assert ask(fake, f"content/{page}").status_code == 404
    assert ask(fake, f"content/{page}", status="any").json()["status"] == "trashed"
    assert ask(fake, f"content/{page}", status="trashed").ok
    assert search(fake, "type = page") == [["B"]]
    assert fake.visible()[under].ancestors == ()
    fake.sees_trash = False
    assert ask(fake, f"content/{page}", status="any").status_code == 404
    fake.restore(page)
    assert fake.visible().keys() == {page, under}
    fake.purge(page)
    fake.sees_trash = True
    assert ask(fake, f"content/{page}", status="any").status_code == 404


def test_a_restricted_page_and_its_descendants_look_missing(fake):
    page = fake.add("DOC", "A")
    under = fake.add("DOC", "B", parent=page)
    fake.comment(under, "<p>c</p>")
    fake.restrict(page)
    answer = ask(fake, f"content/{under}", status="any")
    assert answer.status_code == 404
    assert answer.json()["message"] == f"No content found with id: ContentId{{id={under}}}"
    assert search(fake, "space = DOC") == [[]]
    assert fake.visible() == {}
    fake.restrict(page, False)
    assert fake.visible().keys() == {page, under}


def test_archived_pages_and_spaces_are_returned_on_request(fake):
    page = fake.add("DOC", "A")
    fake.add_space("OLD")
    fake.add("OLD", "B")
    fake.archive(page)
    fake.archive_space("OLD")
    assert search(fake, "type = page") == [[]]
    archived = '{"contentStatuses": ["current", "archived"]}'
    assert search(fake, "type = page", cqlcontext=archived) == [["A"]]
    assert search(fake, "type = page", includeArchivedSpaces="true") == [["B"]]
    results = ask(fake, "content", spaceKey="DOC", status="archived").json()["results"]
    assert [each["title"] for each in results] == ["A"]
    keys = {
        status: [space["key"] for space in ask(fake, "space", status=status).json()["results"]]
        for status in ("current", "archived")
    }
    assert keys == {"current": ["DOC"], "archived": ["OLD"]}


def test_only_visible_spaces_are_listed(fake):
    fake.add_space("HR")
    fake.hide_space("HR")
    [space] = ask(fake, "space", limit=1).json()["results"]
    assert (space["key"], space["name"], space["type"]) == ("DOC", "Documents", "global")
    assert ask(fake, "space/HR").status_code == 404
    fake.hide_space("HR", False)
    assert ask(fake, "space/HR").json()["key"] == "HR"
    links = ask(fake, "space", limit=1).json()["_links"]
    assert links["next"] == "/rest/api/space?start=1&limit=1"


def test_attachments_have_versions_and_can_be_downloaded(fake):
    page = fake.add("DOC", "A")
    fake.attach(page, "한글 파일.txt", b"one")
    id = fake.attach(page, "한글 파일.txt", b"two", by="lee")
    [result] = ask(fake, f"content/{page}/child/attachment", expand="version").json()["results"]
    assert result["id"] == id
    assert id.startswith("att")
    assert result["version"]["number"] == 2
    assert result["metadata"]["mediaType"] == "text/plain"
    assert result["extensions"]["fileSize"] == 3
    answer = ask(fake, f"../..{result['_links']['download']}")
    assert answer.content == b"two"
    assert bool(answer.history) is fake.cloud, "Cloud redirects to its media server"
    fake.restrict(page)
    assert ask(fake, f"../..{result['_links']['download']}").status_code == 404


def test_comments_and_replies_are_returned_on_request(fake):
    page = fake.add("DOC", "A")
    first = fake.comment(page, "<p>one</p>")
    fake.comment(page, "<p>two</p>", reply_to=first, by="lee")
    path = f"content/{page}/child/comment"
    assert len(ask(fake, path).json()["results"]) == 1
    result = ask(fake, path, depth="all", expand="body.view,ancestors").json()["results"]
    assert [comment["body"]["view"]["value"] for comment in result] == ["<p>one</p>", "<p>two</p>"]
    assert [above["id"] for above in result[1]["ancestors"]] == [first]
    assert search(fake, f"type = comment and container = {page}") == [["Re: A", "Re: A"]]


def test_blog_posts_are_found_along_with_pages(fake):
    fake.add("DOC", "News", type="blogpost")
    assert search(fake, "type in (page, blogpost)") == [["News"]]
    [result] = ask(fake, "content", spaceKey="DOC", type="blogpost").json()["results"]
    assert "/2026/11/21/" in result["_links"]["webui"]


def test_titles_are_unique_in_a_space(fake):
    first = fake.add("DOC", "A")
    with pytest.raises(ValueError, match="There is a page 'A'"):
        fake.add("DOC", "A")
    fake.trash(first)
    second = fake.add("DOC", "A")
    with pytest.raises(ValueError, match="There is a page 'A'"):
        fake.restore(first)
    fake.rename(second, "B")
    fake.restore(first)
    assert sorted(page.title for page in fake.visible().values()) == ["A", "B"]
