"""Pages of Confluence are found by those who may read them there, through search and chat."""

from dataclasses import replace

import pytest

from domain import HIDDEN, LOCAL_USER, DocumentRef, ImportState, Outcome, Principal, Role
from domain.errors import ForbiddenError
from loaders.confluence.confluence_permissions import ConfluencePermissions, Subjects
from services.sources.secret_service import new_key
from services.sources.source_service import SourceSettings
from tests.fakes.confluence import ACCESS_TOKEN, API_TOKEN, EMAIL, FakeConfluence
from tests.fakes.confluence_shapes import account_id
from tests.finders import SECRET, Finders

LEE = Principal("lee", frozenset(["staff"]))
TANAKA = Principal("tanaka", frozenset(["staff", "hr"]))
VISITOR = Principal("visitor")
MINJI = Principal("minji", email="minji@example.com")
EVERYONE = (LEE, TANAKA, VISITOR, MINJI)
EDITOR = replace(TANAKA, role=Role.EDITOR)


class Wiki(Finders):
    """A site and a library that mirrors its permissions."""

    def __init__(self, services, fake):
        super().__init__(services, EVERYONE)
        self.fake = fake
        fake.add_space("DOC", "Documentation")
        fake.permit("DOC", groups=("staff",))
        self.top = fake.add("DOC", "Company", "<p>Everything about the company.</p>")
        self.page = fake.add("DOC", "Bonus", f"<p>{SECRET}</p>", parent=self.top)
        self.source = None

    def load(self):
        if self.source is None:
            self.source = self.services.sources.add(
                LOCAL_USER, "confluence", self.fields(), SourceSettings()
            ).source
        run = self.services.sources.refresh(LOCAL_USER, self.source.id)
        return self.services.worker.wait(LOCAL_USER, run.id)

    def fields(self, **changes):
        login = (
            {"login": "cloud", "email": EMAIL, "api_token": API_TOKEN}
            if self.fake.cloud
            else {"login": "token", "access_token": ACCESS_TOKEN}
        )
        selection = {"scope": "everything", "mirror_permissions": True, "attachments": True}
        return {"url": self.fake.url, **login, **selection, **changes}


@pytest.fixture(params=["cloud", "data center"])
def wiki(request, build_services):
    with FakeConfluence(cloud=request.param == "cloud", context="/confluence") as fake:
        yield Wiki(build_services(embed=True, encryption_key=new_key()), fake)
        assert fake.refused == []


def test_a_space_is_found_by_those_who_may_view_it(wiki):
    assert wiki.load().state is ImportState.COMPLETED
    assert wiki.finders() == {"lee", "tanaka"}
    wiki.fake.permit("DOC", groups=("hr",))
    wiki.load()
    assert wiki.finders() == {"tanaka"}


def test_a_public_space_is_found_by_everyone(wiki):
    wiki.fake.publish("DOC")
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka", "visitor", "minji"}


def test_a_user_of_a_space_is_recognized_by_the_id_of_the_site(wiki):
    wiki.fake.permit("DOC", users=("lee",))
    wiki.load()
    id_ = account_id("lee") if wiki.fake.cloud else "lee"
    assert wiki.finds(replace(VISITOR, user_id=id_))
    assert not wiki.finds(VISITOR)


def test_a_restricted_page_is_found_by_those_in_the_restriction_and_in_the_space(wiki):
    wiki.fake.limit(wiki.page, groups=("hr",))
    wiki.load()
    assert wiki.finders() == {"tanaka"}
    assert not wiki.finds(replace(VISITOR, groups=frozenset(["hr"])))


def test_a_restriction_is_inherited_and_combined_with_the_page_s_own(wiki):
    wiki.fake.limit(wiki.top, groups=("hr",))
    wiki.load()
    assert wiki.finders() == {"tanaka"}
    wiki.fake.limit(wiki.page, groups=("board",))
    wiki.load()
    assert wiki.finders() == set()
    both = replace(TANAKA, groups=TANAKA.groups | {"board"})
    assert wiki.finds(both)


def test_a_change_of_a_restriction_counts_for_the_next_question_and_reads_no_page(wiki):
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka"}
    wiki.fake.limit(wiki.page, groups=("hr",))
    before = wiki.fake.count(f"/content/{wiki.page}")
    run = wiki.load()
    assert run.counts[Outcome.PERMISSIONS] == 1
    assert run.counts.get(Outcome.CHANGED, 0) == 0
    assert wiki.fake.count(f"/content/{wiki.page}") == before
    assert wiki.finders() == {"tanaka"}


def test_a_page_that_moves_gets_the_restrictions_of_its_new_place(wiki):
    closed = wiki.fake.add("DOC", "Board", "<p>Of the board.</p>")
    wiki.fake.limit(closed, groups=("hr",))
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka"}
    wiki.fake.move(wiki.page, closed)
    wiki.load()
    assert wiki.finders() == {"tanaka"}
    wiki.fake.add_space("OPEN")
    wiki.fake.publish("OPEN")
    wiki.fake.move(wiki.page, space="OPEN")
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka", "visitor", "minji"}


def test_attachments_have_the_restrictions_of_their_page(wiki):
    wiki.fake.edit(wiki.page, "<p>See the file.</p>")
    wiki.fake.attach(wiki.page, "bonus.txt", SECRET.encode())
    wiki.fake.limit(wiki.page, groups=("hr",))
    wiki.load()
    assert wiki.finders() == {"tanaka"}


def test_permissions_that_cannot_be_read_hide_the_space_and_the_report_says_so(wiki):
    wiki.load()
    wiki.fake.hide_permissions("DOC")
    run = wiki.load()
    assert run.state is ImportState.COMPLETED_WITH_ERRORS
    assert run.message == "2 are hidden, because their permissions could not be read"
    items = wiki.services.import_reports.items(LOCAL_USER, run.id, limit=9)
    assert {item.outcome for item in items} == {Outcome.PERMISSIONS}
    assert all("the permissions of the space DOC can't be read" in one.reason for one in items)
    assert wiki.finders() == set()
    assert wiki.finds(LOCAL_USER)
    wiki.fake.hide_permissions("DOC", is_hidden=False)
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka"}


def test_a_restriction_with_many_users_is_read_completely(wiki):
    wiki.fake.subjects_limit = 2
    names = [f"user{n}" for n in range(5)]
    wiki.fake.users |= dict.fromkeys(names, "Somebody")
    wiki.fake.limit(wiki.page, users=tuple(names))
    wiki.load()
    for name in names:
        id_ = account_id(name) if wiki.fake.cloud else name
        assert wiki.finds(replace(LEE, user_id=id_)), name
    assert wiki.finders() == set()


def test_pages_stay_found_by_everyone_without_the_option(wiki):
    wiki.fake.limit(wiki.page, groups=("hr",))
    wiki.load()
    assert wiki.finders() == {"tanaka"}
    wiki.services.sources.edit(
        LOCAL_USER, wiki.source.id, {"mirror_permissions": False}, SourceSettings(name="Wiki")
    )
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka", "visitor", "minji"}


def test_an_editor_cannot_turn_off_the_option(wiki):
    wiki.load()
    edit, settings = wiki.services.sources.edit, SourceSettings(name="Wiki")
    with pytest.raises(ForbiddenError, match="whether .* mirrors permissions: ask one"):
        edit(EDITOR, wiki.source.id, {"mirror_permissions": False}, settings)
    edit(EDITOR, wiki.source.id, {"mirror_permissions": True, "comments": True}, settings)
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka"}
    admin = replace(EDITOR, role=Role.ADMIN)
    edit(admin, wiki.source.id, {"mirror_permissions": False}, settings)
    wiki.load()
    assert wiki.finders() == {"lee", "tanaka", "visitor", "minji"}


@pytest.mark.parametrize("ancestors", [None, "missing"])
def test_a_page_whose_ancestors_are_not_returned_is_hidden_with_a_reason(ancestors):
    restrictions = {"read": {"restrictions": {one: {"results": []} for one in ("user", "group")}}}
    page = {"id": "1", "space": {"key": "DOC"}, "restrictions": restrictions, "type": "page"}
    page |= {} if ancestors == "missing" else {"ancestors": ancestors}
    permissions = ConfluencePermissions(None, Subjects(None), _spaces={"DOC": ()})
    permissions.note(page)
    permissions.note(page | {"id": "2", "ancestors": []})
    hidden, readable = (permissions.restrict(DocumentRef(id_, "1", "")) for id_ in "12")
    assert (hidden.restrictions, readable.restrictions) == (HIDDEN, ())
    assert "did not return the pages above it" in hidden.hidden_reason


@pytest.fixture
def cloud(build_services):
    with FakeConfluence(cloud=True) as fake:
        yield Wiki(build_services(embed=True, encryption_key=new_key()), fake)


@pytest.fixture
def server(build_services):
    with FakeConfluence(cloud=False) as fake:
        yield Wiki(build_services(embed=True, encryption_key=new_key()), fake)
        assert fake.refused == []


def test_a_person_is_recognized_by_an_email_address_that_cloud_shows(cloud):
    cloud.fake.users["minji"], cloud.fake.emails["minji"] = "Minji", "Minji@Example.com"
    cloud.fake.permit("DOC", users=("minji",))
    cloud.load()
    assert cloud.finders() == {"minji"}


def test_people_in_a_group_in_a_group_find_what_the_outer_group_may_read(server):
    server.fake.groups_in = {"hr": ("payroll", "hr"), "payroll": ("interns 2026",)}
    server.fake.limit(server.page, groups=("hr",))
    server.load()
    assert server.finders() == {"tanaka"}
    for group in ("payroll", "interns 2026"):
        assert server.finds(replace(LEE, groups=LEE.groups | {group}))


def test_daily_checks_for_deletions_do_not_delay_changes_of_restrictions(cloud):
    cloud.fields = lambda fields=cloud.fields: fields(deletions="daily")
    cloud.load()
    cloud.fake.limit(cloud.page, groups=("hr",))
    cloud.load()
    assert cloud.finders() == {"tanaka"}


def test_a_listing_takes_one_request_more_per_space(cloud):
    cloud.load()
    before = len(cloud.fake.requests)
    cloud.load()
    paths = [one.path for one in cloud.fake.requests[before:]]
    assert len(paths) == 4, paths
    assert sum(path.endswith("/space/DOC") for path in paths) == 1
