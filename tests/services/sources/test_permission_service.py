import pytest

from domain import LOCAL_USER, Principal, Role
from domain.errors import ForbiddenError, InputError, NotFoundError
from services.sources.permission_service import PermissionService, Rule, SourceReaders
from storage.ledger.document_store import document_id
from storage.ledger.restriction_store import collection_restriction
from tests.fakes.library import DictLoader, Library

ROOT = Principal("root", role=Role.ADMIN)
BERT = Principal("bert", frozenset({"hr"}), Role.EDITOR)
ANNA = Principal("anna", frozenset({"staff"}))


class Permissions:
    """The permissions of a library with one source, `docs`, in the collection HR."""

    def __init__(self, folder):
        self.library = Library(folder)
        options = {"collection": "HR"}
        docs = self.library.sources.ensure("directory", "/docs", name="docs", options=options)
        self.library.load(DictLoader({"a.md": "Leave."}), source=docs)
        self.source, self.page = docs.id, document_id(docs.id, "a.md")
        self.service = PermissionService(self.library.access, self.library.audit)

    def restrict_page(self, *restrictions):
        restrictions = list(map(frozenset, restrictions))
        self.library.access.restrictions.restrict_documents({self.page: restrictions})

    def add_file_of(self, user_id):
        options = {"user_id": user_id, "conversation_id": "c1"}
        box = self.library.sources.ensure("upload", "uploads/c1", name="Trip", options=options)
        self.library.load(DictLoader({"map.md": "Map."}), source=box)
        return box.id, document_id(box.id, "map.md")

    def why(self, person, principal=ROOT):
        return self.service.why(principal, person, self.page)


@pytest.fixture
def permissions(tmp_path):
    return Permissions(tmp_path)


def test_everyone_reads_a_source_until_it_has_readers(permissions):
    service, source = permissions.service, permissions.source
    assert service.readers(ROOT, source) is None
    assert service.set_readers(ROOT, source, ["group:hr", "user:anna"]) == ("group:hr", "user:anna")
    assert service.readers(ROOT, source) == ("group:hr", "user:anna")
    assert service.set_readers(ROOT, source, None) is None
    assert service.readers(ROOT, source) is None


def test_a_change_of_readers_takes_effect_at_once(permissions):
    service, source = permissions.service, permissions.source
    service.set_readers(ROOT, source, ["group:hr"])
    assert not permissions.library.access.sees(ANNA, source)
    service.set_readers(ROOT, source, ["group:hr", "group:staff"])
    assert permissions.library.access.sees(ANNA, source)
    service.set_readers(ROOT, source, [])
    assert not permissions.library.access.sees(ANNA, source)


def test_readers_of_a_collection_restrict_its_sources(permissions):
    service = permissions.service
    assert service.collection_readers(ROOT, "HR") is None
    service.set_collection_readers(ROOT, "HR", ["group:hr"])
    assert service.collection_readers(ROOT, "HR") == ("group:hr",)
    assert not permissions.library.access.sees(ANNA, permissions.source)
    service.set_collection_readers(ROOT, "HR", None)
    assert permissions.library.access.sees(ANNA, permissions.source)


def test_the_readers_of_a_source_are_those_of_it_and_of_its_collection(permissions):
    service, source = permissions.service, permissions.source
    assert service.who(ROOT, source) == SourceReaders(None, None)
    service.set_readers(ROOT, source, ["user:anna"])
    service.set_collection_readers(ROOT, "HR", ["group:hr"])
    assert service.who(ROOT, source) == SourceReaders(("user:anna",), ("group:hr",))


def test_a_collection_is_found_in_either_unicode_form(permissions):
    options = {"collection": "Caf\u00e9"}
    permissions.library.sources.ensure("directory", "/bar", name="bar", options=options)
    permissions.service.set_collection_readers(ROOT, "Cafe\u0301", ["group:hr"])
    restrictions = permissions.library.access.restrictions
    assert restrictions.readers(collection_restriction("Caf\u00e9")) == {"group:hr"}


def test_readers_are_stored_without_blanks_and_duplicates(permissions):
    readers = [
        " group: 人事部 ",
        "group:人事部",
        "email:Anna@Example.com",
        "user:a:b",
        "domain:B.example",
    ]
    stored = permissions.service.set_readers(ROOT, permissions.source, readers)
    assert stored == ("domain:b.example", "email:anna@example.com", "group:人事部", "user:a:b")


@pytest.mark.parametrize(
    "reader",
    [
        "",
        "anna",
        "everyone:",
        "user:",
        "group: \t",
        "User:anna",
        "team:hr",
        "group:" + "x" * 201,
        "group:two\nlines",
        "user:a\0b",
        "group:\u202egnp",
        "group:\u2028",
        "email:anna",
        "email:@example.com",
        "email:anna@",
        "email:a@b@c",
    ],
)
def test_a_malformed_reader_is_refused_and_nothing_changes(permissions, reader):
    service, source = permissions.service, permissions.source
    service.set_readers(ROOT, source, ["group:hr"])
    with pytest.raises(InputError, match="is not a reader: use user:ID, group:NAME"):
        service.set_readers(ROOT, source, ["user:anna", reader])
    assert service.readers(ROOT, source) == ("group:hr",)


def test_more_than_a_thousand_readers_are_refused(permissions):
    service, source = permissions.service, permissions.source
    most = [f"user:{n}" for n in range(1000)]
    assert len(service.set_readers(ROOT, source, most)) == 1000
    with pytest.raises(InputError, match="1001 readers: specify at most 1000, or use groups"):
        service.set_readers(ROOT, source, [*most, "user:1000"])


def test_only_administrators_change_readers(permissions):
    service, source = permissions.service, permissions.source
    for principal in (ANNA, BERT):
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            service.set_readers(principal, source, None)
        with pytest.raises(ForbiddenError, match="needs the role admin"):
            service.set_collection_readers(principal, "HR", None)


def test_readers_see_no_permissions(permissions):
    service, source = permissions.service, permissions.source
    calls = [
        (service.readers, source),
        (service.who, source),
        (service.collection_readers, "HR"),
        (service.why, ANNA, permissions.page),
    ]
    for call, *arguments in calls:
        with pytest.raises(ForbiddenError, match="needs the role editor"):
            call(ANNA, *arguments)


def test_editors_see_the_permissions_of_what_they_may_read(permissions):
    service, source = permissions.service, permissions.source
    service.set_readers(ROOT, source, ["group:hr"])
    assert service.readers(BERT, source) == ("group:hr",)
    assert service.collection_readers(BERT, "HR") is None
    assert permissions.why(ANNA, principal=BERT).rule is Rule.SOURCE


def test_what_an_editor_may_not_read_does_not_exist_for_them(permissions):
    service, source = permissions.service, permissions.source
    service.set_readers(ROOT, source, ["group:staff"])
    for call, *arguments in [
        (service.readers, source),
        (service.who, source),
        (service.collection_readers, "HR"),
        (service.why, ANNA, permissions.page),
    ]:
        with pytest.raises(NotFoundError):
            call(BERT, *arguments)
    assert service.readers(ROOT, source) == ("group:staff",)


def test_unknown_sources_collections_and_documents_are_not_found(permissions):
    service = permissions.service
    for call, *arguments in [
        (service.readers, "none"),
        (service.set_readers, "none", None),
        (service.who, "none"),
        (service.collection_readers, "none"),
        (service.set_collection_readers, "none", []),
        (service.why, ANNA, "none"),
    ]:
        with pytest.raises(NotFoundError):
            call(ROOT, *arguments)


def test_the_files_of_a_conversation_have_no_readers(permissions):
    box, _file = permissions.add_file_of("anna")
    with pytest.raises(NotFoundError):
        permissions.service.readers(ROOT, box)
    with pytest.raises(NotFoundError):
        permissions.service.set_readers(ROOT, box, ["user:root"])


def test_a_document_without_restrictions_is_readable_by_everyone(permissions):
    explanation = permissions.why(ANNA)
    assert (explanation.is_readable, explanation.rule) == (True, Rule.NO_RESTRICTION)
    assert explanation.message.startswith("Readable by everyone")


def test_a_reader_reads_through_each_group_and_the_user(permissions):
    permissions.service.set_readers(ROOT, permissions.source, ["group:hr", "group:board"])
    permissions.restrict_page({"user:anna", "group:staff"})
    explanation = permissions.why(Principal("anna", frozenset({"hr", "other"})))
    assert (explanation.is_readable, explanation.rule) == (True, Rule.READER)
    assert explanation.readers == ("group:hr", "user:anna")
    assert explanation.message == "Readable by group:hr, user:anna."


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        (Rule.SOURCE, "the source docs"),
        (Rule.COLLECTION, "the collection HR"),
        (Rule.DOCUMENT, "this document"),
    ],
)
@pytest.mark.parametrize("readers", [(), ("group:board", "user:bert")])
def test_an_explanation_names_the_rule_that_hides_a_document(permissions, rule, what, readers):
    match rule:
        case Rule.SOURCE:
            permissions.service.set_readers(ROOT, permissions.source, readers)
        case Rule.COLLECTION:
            permissions.service.set_collection_readers(ROOT, "HR", readers)
        case Rule.DOCUMENT:
            permissions.restrict_page({"group:staff"}, readers)
    explanation = permissions.why(ANNA)
    assert (explanation.is_readable, explanation.rule) == (False, rule)
    assert explanation.readers == readers
    who = "only group:board, user:bert" if readers else "nobody"
    assert explanation.message == f"Hidden: {who} may read {what}."


def test_an_explanation_shows_the_first_ten_of_many_readers(permissions):
    readers = [f"user:{n:02}" for n in range(30)]
    permissions.service.set_readers(ROOT, permissions.source, readers)
    explanation = permissions.why(ANNA)
    assert "user:09, ... may read the source docs" in explanation.message
    assert len(explanation.readers) == 30


def test_whose_conversation_a_file_belongs_to_is_not_disclosed(permissions):
    _box, file = permissions.add_file_of("clara")
    explanation = permissions.service.why(ROOT, ANNA, file)
    assert (explanation.is_readable, explanation.rule) == (False, Rule.CONVERSATION)
    assert explanation.readers == ()
    assert "clara" not in explanation.message
    assert permissions.service.why(ROOT, Principal("clara"), file).readers == ("user:clara",)


def test_no_restriction_excludes_the_operator(permissions):
    permissions.service.set_readers(LOCAL_USER, permissions.source, [])
    assert permissions.why(LOCAL_USER).rule is Rule.OPERATOR
    assert permissions.why(Principal("local")).rule is Rule.SOURCE


def test_explanations_agree_with_what_is_readable(permissions):
    access, service = permissions.library.access, permissions.service
    people = [ANNA, BERT, ROOT, LOCAL_USER, Principal("clara", frozenset({"hr", "board"}))]
    sets = [None, [], ["group:hr"], ["group:staff", "user:root"]]
    for source_readers in sets:
        for page_restrictions in ([], [{"group:board"}], [{"group:hr"}, {"user:bert"}]):
            service.set_readers(ROOT, permissions.source, source_readers)
            permissions.restrict_page(*page_restrictions)
            for person in people:
                is_readable = access.reads(person, permissions.source, permissions.page)
                assert permissions.why(person).is_readable == is_readable
