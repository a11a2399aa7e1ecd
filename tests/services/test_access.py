import pytest

from domain import LOCAL_USER, Principal, Role
from domain.errors import ForbiddenError, NotFoundError
from services.access import require_role
from storage.ledger.document_store import document_id
from storage.ledger.restriction_store import collection_restriction, source_restriction
from tests.fakes.library import DictLoader, Library

ANNA = Principal("anna", frozenset({"staff"}))
BERT = Principal("bert", frozenset({"hr"}), Role.EDITOR)


class TwoSources:
    """A library with the sources `docs` (collection HR) and `wiki`, each with one document."""

    def __init__(self, folder):
        self.library = Library(folder)
        sources = self.library.sources
        self.docs = sources.ensure("directory", "/docs", name="docs", options={"collection": "HR"})
        self.wiki = sources.ensure("directory", "/wiki", name="wiki")
        self.library.load(DictLoader({"a.md": "Leave."}), source=self.docs)
        self.library.load(DictLoader({"b.md": "Network."}), source=self.wiki)
        self.access = self.library.access
        self.restrict = self.access.restrictions.restrict
        self.page = document_id(self.docs.id, "a.md")

    def names(self, principal):
        return [one.name for one in self.access.own_sources(principal).values()]


@pytest.fixture
def two(tmp_path):
    return TwoSources(tmp_path)


def test_sources_without_restrictions_are_readable_by_everyone(two):
    assert two.names(ANNA) == two.names(BERT) == ["docs", "wiki"]


def test_a_source_is_readable_only_by_its_readers(two):
    two.restrict(source_restriction(two.docs.id), ["group:hr"])
    assert two.names(ANNA) == ["wiki"]
    assert two.names(BERT) == ["docs", "wiki"]
    assert two.access.readable(ANNA).hidden == (two.docs.id,)


def test_a_user_is_a_reader_without_any_group(two):
    two.restrict(source_restriction(two.docs.id), ["user:anna"])
    assert two.names(Principal("anna")) == ["docs", "wiki"]


def test_a_restricted_collection_hides_its_sources(two):
    two.restrict(collection_restriction("HR"), ["group:hr"])
    assert two.names(ANNA) == ["wiki"]


def test_the_operator_reads_everything(two):
    two.restrict(source_restriction(two.docs.id), [])
    two.access.restrictions.restrict_documents({two.page: [frozenset()]})
    assert two.names(LOCAL_USER) == ["docs", "wiki"]
    assert two.access.reads(LOCAL_USER, two.docs.id, two.page)


def test_an_administrator_reads_no_more_than_others(two):
    two.restrict(source_restriction(two.docs.id), ["group:hr"])
    assert two.names(Principal("root", role=Role.ADMIN)) == ["wiki"]


def test_a_restricted_document_is_readable_only_by_its_readers(two):
    two.access.restrictions.restrict_documents({two.page: [frozenset({"group:hr"})]})
    assert not two.access.reads(ANNA, two.docs.id, two.page)
    assert two.access.reads(BERT, two.docs.id, two.page)
    assert two.access.unreadable(ANNA, [two.page, "removed"]) == {two.page}


def test_a_removed_document_stays_unreadable_for_those_whom_its_restriction_excluded(two):
    two.access.restrictions.restrict_documents({two.page: [frozenset({"group:hr"})]})
    two.library.load(DictLoader({}), source=two.docs, confirm_removals=True)
    assert two.access.unreadable(ANNA, [two.page]) == {two.page}


def test_a_restriction_outlives_new_versions_of_its_document(two):
    two.access.restrictions.restrict_documents({two.page: [frozenset({"group:hr"})]})
    two.library.load(DictLoader({"a.md": "Leave, changed."}), source=two.docs)
    assert not two.access.reads(ANNA, two.docs.id, two.page)


def test_only_editors_change_shared_sources(two):
    assert two.access.managed_source(BERT, two.wiki.id) == two.wiki
    with pytest.raises(ForbiddenError, match="needs the role editor, and you have the role reader"):
        two.access.managed_source(ANNA, two.wiki.id)


def test_an_unreadable_source_does_not_exist_for_an_editor(two):
    two.restrict(source_restriction(two.wiki.id), ["group:staff"])
    with pytest.raises(NotFoundError):
        two.access.managed_source(BERT, two.wiki.id)


def test_files_of_a_conversation_depend_on_nothing_but_its_owner(two):
    options = {"user_id": "anna", "conversation_id": "c1"}
    box = two.library.sources.ensure("upload", "uploads/c1", name="HR", options=options)
    two.restrict(collection_restriction("HR"), [])
    assert two.access.sees(ANNA, box.id)
    assert not two.access.sees(BERT, box.id)


def test_everyone_changes_the_files_of_their_own_conversations(two):
    options = {"user_id": "anna", "conversation_id": "c1"}
    box = two.library.sources.ensure("upload", "uploads/c1", name="Trip", options=options)
    assert two.access.managed_source(ANNA, box.id) == box
    with pytest.raises(NotFoundError):
        two.access.managed_source(BERT, box.id)


@pytest.mark.parametrize(
    ("own", "required", "is_permitted"),
    [
        (Role.READER, Role.READER, True),
        (Role.READER, Role.EDITOR, False),
        (Role.EDITOR, Role.READER, True),
        (Role.EDITOR, Role.ADMIN, False),
        (Role.ADMIN, Role.EDITOR, True),
    ],
)
def test_a_role_includes_the_roles_before_it(own, required, is_permitted):
    principal = Principal("anna", role=own)
    if is_permitted:
        require_role(principal, required)
    else:
        with pytest.raises(ForbiddenError, match=f"needs the role {required}"):
            require_role(principal, required)
