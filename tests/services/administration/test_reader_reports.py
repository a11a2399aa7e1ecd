import pytest

from domain import Principal, Role
from domain.errors import ForbiddenError, NotFoundError
from services.administration.reader_reports import ListedSource, ReaderReports
from storage.ledger.document_list_store import DocumentList
from tests.services.administration.conftest import NOW, ROOT


@pytest.fixture
def reports(team):
    documents = DocumentList(team.library.database)
    return ReaderReports(team.library.access, team.permissions, team.accounts, documents)


def names(report):
    return [one.name for one in report.people]


def test_sources_and_collections_are_listed_with_their_readers(team, reports):
    team.add_file_of("ada")
    team.permissions.set_readers(ROOT, team.source, ["user:ada"])
    team.permissions.set_collection_readers(ROOT, "HR", [])
    sources, collections = reports.list(ROOT)
    assert sources == [ListedSource(team.source, "docs", "HR", 4, ("user:ada",))]
    assert collections == {"HR": ()}
    assert reports.source_names(ROOT) == {team.source: "docs"}


def test_everyone_who_is_not_disabled_reads_a_source_without_readers(team, reports):
    team.accounts.disable("ben", NOW)
    report = reports.report(ROOT, team.source)
    assert names(report) == ["Ada Lovelace", "Clara Wieck"]
    assert (report.accounts, report.documents, report.unrestricted) == (2, 4, 4)
    assert report.mirrors_permissions


def test_people_must_be_readers_of_the_source_and_of_its_collection(team, reports):
    team.permissions.set_readers(ROOT, team.source, ["group:staff", "email:clara@example.com"])
    assert names(reports.report(ROOT, team.source)) == ["Ada Lovelace", "Ben Ohm", "Clara Wieck"]
    team.permissions.set_collection_readers(ROOT, "HR", ["group:hr"])
    report = reports.report(ROOT, team.source)
    assert names(report) == ["Ada Lovelace"]
    assert report.readers.collection == ("group:hr",)


def test_documents_are_counted_by_their_permissions(team, reports):
    team.restrict(0, {"group:hr"})
    team.restrict(1, {"group:hr"})
    team.restrict(2, {"group:hr", "user:ben"}, {"group:staff"})
    team.restrict(3)
    report = reports.report(ROOT, team.source)
    assert [tuple(one) for one in report.permissions] == [
        ((("group:hr",),), 2),
        ((("group:hr", "user:ben"), ("group:staff",)), 1),
    ]
    assert (report.unrestricted, report.hidden, report.other) == (1, 0, 0)


def test_documents_of_other_sources_are_not_counted(team, reports):
    other = team.add_file_of("ada")
    team.library.access.restrictions.restrict_documents({other: [frozenset({"group:hr"})]})
    report = reports.report(ROOT, team.source)
    assert (report.documents, report.unrestricted, report.permissions) == (4, 4, [])


def test_a_document_whose_permissions_admit_nobody_is_hidden(team, reports):
    team.restrict(0, ())
    team.restrict(1, (), {"group:hr"})
    report = reports.report(ROOT, team.source)
    assert (report.hidden, report.unrestricted, report.permissions) == (2, 2, [])


def test_rare_permissions_are_counted_together(team, reports, monkeypatch):
    monkeypatch.setattr("services.administration.reader_reports._SHOWN", 1)
    for page in range(3):
        team.restrict(page, {f"user:{page}"})
    report = reports.report(ROOT, team.source)
    assert (len(report.permissions), report.other) == (1, 2)


def test_only_administrators_see_reports(team, reports):
    editor = Principal("eve", role=Role.EDITOR)
    for call, *arguments in [
        (reports.list,),
        (reports.source_names,),
        (reports.report, team.source),
    ]:
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            call(editor, *arguments)


def test_an_unknown_source_is_not_found(reports):
    with pytest.raises(NotFoundError):
        reports.report(ROOT, "none")
