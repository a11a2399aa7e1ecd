"""Folders of the server that contain documents which an editor may not read."""

import pytest

from domain import LOCAL_USER, Principal, Role
from domain.errors import ForbiddenError, SourceError
from services.sources.source_kinds import SameSourceError
from services.sources.source_service import SourceSettings
from storage.ledger.document_store import document_id
from storage.ledger.restriction_store import source_restriction
from tests.fakes.restaurants import write_restaurants

EDITOR = Principal("bert", frozenset({"hr"}), Role.EDITOR)
ADMIN = Principal("root", role=Role.ADMIN)


class Folders:
    """The folder `company` with the folder `secret`, which is a source of the group legal."""

    def __init__(self, services, folder):
        self.services, self.sources = services, services.sources
        self.outer, self.secret = folder / "company", folder / "company" / "secret"
        self.inner = self.secret / "inner"
        self.inner.mkdir(parents=True)
        for path in (self.outer, self.secret, self.inner):
            (path / "plan.md").write_text(f"# Plan of {path.name}\n")
        self.source = self.add(LOCAL_USER, self.secret).source
        services.access.restrictions.restrict(source_restriction(self.source.id), ["group:legal"])

    def add(self, principal, path, kind="directory"):
        fields = {"path": str(path)}
        return self.sources.add(principal, kind, fields, SourceSettings(name=path.name))

    def import_(self, source):
        run = self.sources.refresh(LOCAL_USER, source.id)
        self.services.worker.wait(LOCAL_USER, run.id)


@pytest.fixture
def folders(build_services, documents_folder):
    return Folders(build_services(embed=True), documents_folder)


@pytest.mark.parametrize("name", ["outer", "secret", "inner"])
def test_an_editor_cannot_add_or_test_a_folder_with_hidden_documents(folders, name):
    path = getattr(folders, name)
    with pytest.raises(ForbiddenError, match="documents that you may not read"):
        folders.sources.test(EDITOR, "directory", {"path": str(path)})
    with pytest.raises(ForbiddenError, match="documents that you may not read"):
        folders.add(EDITOR, path)
    assert [one.source.id for one in folders.sources.list(LOCAL_USER)] == [folders.source.id]


def test_an_administrator_may_add_it_and_no_message_names_the_hidden_source(folders):
    added = folders.add(ADMIN, folders.outer)
    assert added.warnings == ()
    with pytest.raises(SourceError, match="already a source, which you may not read") as raised:
        folders.add(ADMIN, folders.secret)
    assert not isinstance(raised.value, SameSourceError)
    assert len(folders.add(LOCAL_USER, folders.inner).warnings) == 2


def test_an_editor_cannot_add_a_folder_with_one_hidden_document(folders):
    folders.import_(folders.source)
    folders.services.access.restrictions.restrict(source_restriction(folders.source.id), None)
    page = document_id(folders.source.id, "plan.md")
    folders.services.access.restrictions.restrict_documents({page: [frozenset({"group:legal"})]})
    with pytest.raises(ForbiddenError):
        folders.add(EDITOR, folders.inner)


def test_an_editor_cannot_change_patterns_so_that_a_folder_has_hidden_documents(folders):
    source = folders.add(ADMIN, folders.outer).source
    edit, settings = folders.sources.edit, SourceSettings("company")
    edit(ADMIN, source.id, {"exclude": "secret/**"}, settings)
    edit(EDITOR, source.id, {"exclude": "secret/**"}, SourceSettings("Company"))
    with pytest.raises(ForbiddenError):
        edit(EDITOR, source.id, {"exclude": ""}, settings)
    options = folders.services.access.sources.get(source.id).options
    assert options["exclude"] == ["secret/**"]


def test_an_editor_cannot_add_a_catalog_in_a_folder_with_hidden_documents(folders):
    write_restaurants(folders.inner / "restaurants")
    catalog = folders.inner / "restaurants" / "catalog.yaml"
    with pytest.raises(ForbiddenError):
        folders.sources.test(EDITOR, "catalogue", {"path": str(catalog)})
    with pytest.raises(ForbiddenError):
        folders.add(EDITOR, catalog, "catalogue")


def test_an_editor_cannot_add_the_files_of_a_hidden_catalog(folders):
    write_restaurants(folders.outer / "restaurants")
    catalog = folders.outer / "restaurants" / "catalog.yaml"
    source = folders.add(ADMIN, catalog, "catalogue").source
    folders.services.access.restrictions.restrict(source_restriction(source.id), [])
    with pytest.raises(ForbiddenError):
        folders.add(EDITOR, folders.outer / "restaurants")


def test_an_editor_adds_a_folder_beside_a_hidden_one(folders):
    beside = folders.outer / "secret plans"
    beside.mkdir()
    (beside / "b.md").write_text("# B")
    assert folders.add(EDITOR, beside).warnings == ()
