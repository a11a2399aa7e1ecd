import pytest
import requests

from tests.fakes.confluence import ACCESS_TOKEN, EMAIL, KIM
from tests.fakes.confluence_requests import ask, search
from tests.fakes.faults import TRANSIENT_FAULTS, Faults

pytestmark = pytest.mark.slow

ALL = "version,ancestors,space,metadata.labels,history,body.storage"


def test_a_page_includes_the_requested_expansions(fake):
    top = fake.add("DOC", "Top")
    page = fake.add("DOC", "Sub page", "<p>text</p>", top, labels=("a", "b"))
    fake.edit(page, "<p>new</p>", by="lee")
    result = ask(fake, f"content/{page}", expand=ALL).json()

    assert (result["id"], result["type"], result["status"]) == (page, "page", "current")
    assert result["body"]["storage"]["value"] == "<p>new</p>"
    assert result["version"]["number"] == 2
    assert result["version"]["by"]["displayName"] == "Lee Jun"
    assert [above["title"] for above in result["ancestors"]] == ["Top"]
    assert result["space"] | {"key": "DOC", "name": "Documents"} == result["space"]
    assert [label["name"] for label in result["metadata"]["labels"]["results"]] == ["a", "b"]
    if fake.cloud:
        assert result["version"]["when"] == "2026-11-21T23:33:15.250Z"
        assert result["_links"]["webui"] == f"/spaces/DOC/pages/{page}/Sub+page"
        assert result["history"]["createdBy"]["accountId"].startswith("557058:")
    else:
        assert result["version"]["when"] == "2026-11-22T08:33:15.250+09:00"
        assert result["_links"]["webui"] == "/display/DOC/Sub+page"
        assert result["history"]["createdBy"]["username"] == KIM


def test_expansions_that_were_not_requested_are_only_named(fake):
    result = ask(fake, f"content/{fake.add('DOC', 'Top')}").json()
    assert {"version", "space", "ancestors", "body", "metadata"} <= result["_expandable"].keys()
    assert not result.keys() & result["_expandable"].keys()


@pytest.mark.parametrize(
    ("expand", "requested", "returned"),
    [("", 100, 100), ("", 500, 200), ("body.storage", 500, 50), ("", None, 25)],
)
def test_a_page_of_results_respects_the_limit_of_the_site(fake, expand, requested, returned):
    for n in range(205):
        fake.add("DOC", f"Page {n:03}")
    limit = {"limit": requested} if requested else {}
    pages = search(fake, "type = page order by title", expand=expand, **limit)
    assert len(pages[0]) == returned
    assert [title for page in pages for title in page] == [f"Page {n:03}" for n in range(205)]
    assert fake.refused == []


def test_the_next_link_omits_the_context_path(fake):
    for n in range(3):
        fake.add("DOC", f"Page {n}")
    links = ask(fake, "content/search", cql="type=page", limit=2).json()["_links"]
    assert links["base"] == fake.url
    assert links["context"] == ("/wiki" if fake.cloud else "/confluence")
    assert links["next"].startswith("/rest/api/content/search?")
    assert ("cursor=" in links["next"]) is fake.cloud


def test_a_cursor_can_repeat(fake):
    fake.add("DOC", "Only")
    fake.repeats_cursor = True
    first = ask(fake, "content/search", cql="type=page").json()
    second = ask(fake, first["_links"]["next"].removeprefix("/rest/api/")).json()
    assert first["_links"]["next"] == second["_links"]["next"]
    assert first["results"] == second["results"]


def test_a_page_can_lack_its_body(fake):
    page = fake.add("DOC", "A", "<p>x</p>")
    fake.lose_body(page)
    assert "storage" not in ask(fake, f"content/{page}", expand="body.storage").json()["body"]


def test_the_current_user_is_returned(fake):
    user = ask(fake, "user/current").json()
    assert user["displayName"] == "Kim Minji"
    assert user.get("timeZone") == ("Asia/Seoul" if fake.cloud else None)
    name = {"accountId": user["accountId"]} if fake.cloud else {"key": user["userKey"]}
    assert ask(fake, "user", **name).json()["displayName"] == "Kim Minji"
    assert ask(fake, "user", **dict.fromkeys(name, "nobody")).status_code == 404


@pytest.mark.parametrize("auth", [None, (EMAIL, "wrong"), (KIM, "wrong"), (EMAIL, ACCESS_TOKEN)])
def test_a_wrong_credential_is_401(fake, auth):
    assert ask(fake, "user/current", auth=auth).status_code == 401


def test_personal_access_tokens_work_on_a_server_only(fake):
    bearer = {"Authorization": f"Bearer {ACCESS_TOKEN}"}
    answer = requests.get(f"{fake.url}/rest/api/user/current", headers=bearer, timeout=5)
    assert answer.status_code == (401 if fake.cloud else 200)


def test_an_account_can_be_forbidden_everything(fake):
    fake.denies_access = True
    assert ask(fake, "user/current").status_code == 403


def test_a_request_without_a_session_is_redirected_to_the_login(fake):
    answer = requests.get(f"{fake.url}/pages/viewpage.action?pageId=1", timeout=5)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert requests.get(f"{fake.origin}/rest/api/space", timeout=5).status_code == 404
    assert fake.refused == []


@pytest.mark.parametrize(
    ("path", "params", "reason"),
    [
        ("nothing", {}, "there is no such path"),
        ("content/1/child/poem", {}, "there is no child 'poem'"),
        ("content/1", {"expand": "version,body.raw"}, "can't expand ['body.raw']"),
        ("content/1", {"status": "gone"}, "there is no status ['gone']"),
        ("content/search", {}, "the parameter cql is missing"),
        ("content/search", {"cql": "type=page", "offset": "1"}, "there is no parameter ['offset']"),
        ("content/search", {"cql": "type=page", "limit": "0"}, "limit must be greater than 0"),
        ("content/search", {"cql": "state=open"}, "Could not parse cql"),
        ("content", {"type": "comment"}, "there is no type 'comment' to list"),
        ("space", {"limit": "many"}, "limit is no number: 'many'"),
    ],
)
def test_unknown_parameters_are_refused_and_recorded(fake, path, params, reason):
    page = fake.add("DOC", "A")
    answer = ask(fake, path.replace("1", page), **params)
    assert answer.status_code == 400
    assert reason in answer.json()["message"]
    assert len(fake.refused) == 1
    assert reason in fake.refused[0]


def test_a_client_that_retries_gets_everything_despite_faults(fake):
    for n in range(30):
        fake.add("DOC", f"Page {n}")
    fake.faults = Faults(1, share=0.5, kinds=TRANSIENT_FAULTS, retry_after=0)
    ids = list(fake.visible())
    for id in ids:
        answers = (ask_until_ok(fake, id) for _ in range(4))
        assert next(filter(None, answers))["id"] == id
    assert fake.count("content/") == len(ids) + fake.faults.counts.total() - slow_count(fake)


def ask_until_ok(fake, id):
    try:
        answer = ask(fake, f"content/{id}")
        return answer.json() if answer.ok else None
    except requests.RequestException:
        return None


def slow_count(fake):
    return sum(count for fault, count in fake.faults.counts.items() if "slow" in fault)


def test_five_thousand_pages_are_listed_in_26_responses(fake):
    top = fake.add("DOC", "Top")
    for n in range(5000):
        fake.add("DOC", f"Page {n}", "<p>x</p>", top)
    pages = search(fake, f"id = {top} or ancestor = {top} order by lastmodified", limit=200)
    assert len(pages) == fake.count("content/search") == 26
    assert len({title for page in pages for title in page}) == 5001


def test_restrictions_of_a_page_and_of_those_above_it_are_expanded_page_by_page(fake):
    top = fake.add("DOC", "Top")
    page = fake.add("DOC", "Sub page", parent=top)
    fake.limit(top, groups=("hr",))
    fake.limit(page, users=("lee", "tanaka"))
    fake.subjects_limit = 1
    read = "restrictions.read.restrictions"
    expand = f"{read}.user,{read}.group,ancestors.{read}.user,ancestors.{read}.group"
    result = ask(fake, f"content/{page}", expand=expand).json()
    users = result["restrictions"]["read"]["restrictions"]["user"]
    assert (users["size"], users["limit"], len(users["results"])) == (1, 1, 1)
    [above] = result["ancestors"]
    groups = above["restrictions"]["read"]["restrictions"]["group"]["results"]
    assert [one["name"] for one in groups] == ["hr"]
    rest = ask(fake, f"content/{page}/restriction/byOperation/read", start=1, limit=5).json()
    assert len(rest["restrictions"]["user"]["results"]) == 1
    assert (
        "restrictions"
        not in ask(fake, f"content/{page}", expand="ancestors").json()["ancestors"][0]
    )


def test_permissions_of_a_space_are_those_of_the_product(fake):
    fake.permit("DOC", users=("lee",), groups=("staff",))
    if fake.cloud:
        permissions = ask(fake, "space/DOC", expand="permissions").json()["permissions"]
        views = [one for one in permissions if one["operation"]["operation"] == "read"]
        assert {kind for one in views for kind in one["subjects"]} == {"user", "group"}
        assert ask(fake, "space/DOC/permissions").status_code == 400
    else:
        permissions = ask(fake, "space/DOC/permissions").json()
        views = [one for one in permissions if one["operation"]["operationKey"] == "read"]
        assert {one["subject"]["type"] for one in views} == {"user", "group"}
        assert ask(fake, "space/DOC", expand="permissions").status_code == 400
        fake.hide_permissions("DOC")
        assert ask(fake, "space/DOC/permissions").status_code == 403
