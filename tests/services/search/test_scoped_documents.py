import pytest

from domain import LOCAL_USER, Scope, SearchChoice, SearchMode
from domain.errors import ConflictError
from services.search.scoped_documents import MAX_PASSAGES, ScopedDocuments
from storage.ledger.document_list_store import Titles

WORDS = SearchMode.BM25


@pytest.fixture
def services(imported):
    return imported(embed=True)


def scoped(services, scope=Scope(), conversation_id=""):  # noqa: B008  # it is frozen
    titles, choice = Titles(services.parts.database), SearchChoice(scope=scope, mode=WORDS)
    return ScopedDocuments(services.search, titles, LOCAL_USER, choice, conversation_id)


def title_of(passages):
    return passages[0].metadata["title"] if passages else None


def conversation_with_file(services, name, text):
    """Create a conversation with an uploaded file, and return its id."""
    id_ = services.chat.ask(LOCAL_USER, "Hello!").conversation_id
    box = services.uploads.add(LOCAL_USER, [(name, text.encode())], conversation_id=id_)
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box.source_id).id)
    return id_


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("leave policy", "Leave policy"),
        ("Leave Policy", "Leave policy"),
        ("our leave policy", "Leave policy"),
        ("leave.md", "Leave policy"),
        ("휴가 규정", "휴가 규정"),
        ("휴가", "휴가 규정"),
        ("休暇規程", "休暇規程"),
        ("vpn", "VPN"),
        ("travel policy of the group", None),
        ("merger", None),
        ("", None),
        ("?!", None),
    ],
)
def test_a_document_is_found_by_its_title_or_file_name(services, name, title):
    assert title_of(scoped(services).named(name)) == title


def test_all_passages_of_a_document_are_returned_in_order(services):
    ordinals = [one.metadata["ordinal"] for one in scoped(services).named("leave policy")]
    assert ordinals == sorted(ordinals)
    assert len(ordinals) > 1


def test_documents_out_of_scope_are_neither_found_nor_counted(services, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "old.md").write_text("# Leave policy\n\nThe old policy.", encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, other)
    narrow = scoped(services, Scope(sources=(str(other),)))
    assert narrow.count() == 1
    [passage] = narrow.named("leave policy")
    assert passage.metadata["key"] == "old.md"
    assert narrow.named("VPN") == []
    assert title_of(narrow.nearest("WireGuard policy")) == "Leave policy"
    assert scoped(services).count() == 5


def test_a_file_of_a_conversation_is_found_only_there(services):
    conversation = conversation_with_file(
        services, "offer.md", "# Offer for the harbor\n\nThe offer holds for a month."
    )
    assert title_of(scoped(services, conversation_id=conversation).named("offer for the harbor"))
    assert scoped(services).named("offer for the harbor") == []
    assert (scoped(services).count(), scoped(services, conversation_id=conversation).count()) == (
        4,
        5,
    )


def test_the_only_file_of_a_conversation_is_the_default_document(services):
    conversation = conversation_with_file(
        services, "offer.md", "# Offer for the harbor\n\nThe offer holds for a month."
    )
    narrow = Scope(formats=("pdf",))
    assert title_of(scoped(services, narrow, conversation).only()) == "Offer for the harbor"
    assert scoped(services).only() == []


def test_the_only_document_in_scope_is_the_default_document(services, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "one.md").write_text("# The one\n\nThere is no other.", encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, other)
    assert title_of(scoped(services, Scope(sources=(str(other),))).only()) == "The one"


def test_a_document_is_found_by_its_id_only_in_scope(services):
    [first, *_] = scoped(services).named("leave policy")
    id_ = first.metadata["document_id"]
    assert title_of(scoped(services).known(id_)) == "Leave policy"
    assert scoped(services, Scope(formats=("pdf",))).known(id_) == []
    assert scoped(services).known("gone") == []


def test_the_nearest_document_has_the_best_search_result(services):
    assert title_of(scoped(services).nearest("WireGuard gateway")) == "VPN"
    assert scoped(services).nearest("zebra") == []


def test_the_nearest_document_is_found_across_languages(imported):
    services = imported()
    choice = SearchChoice(mode=SearchMode.CONVEX)
    documents = ScopedDocuments(
        services.search, Titles(services.parts.database), LOCAL_USER, choice
    )
    assert title_of(documents.nearest("VPN 설정")) == "VPN"


def test_a_long_document_is_limited_to_evenly_spaced_passages(services, tmp_path):
    other = tmp_path / "long"
    other.mkdir()
    rules = "\n\n".join(f"## Rule {n}\n\nRule {n} says what must be done." for n in range(300))
    (other / "long.md").write_text(f"# All rules\n\n{rules}", encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, other)
    passages = scoped(services).named("All rules")
    ordinals = [one.metadata["ordinal"] for one in passages]
    assert len(passages) == MAX_PASSAGES
    assert ordinals[0] == 0
    assert ordinals == sorted(set(ordinals))


def test_an_empty_library_has_no_documents(build_services):
    documents = scoped(build_services(embed=True))
    assert documents.count() == 0
    assert documents.named("leave policy") == documents.nearest("leave") == documents.only() == []


def test_an_unknown_source_is_rejected_as_in_any_search(services):
    with pytest.raises(ConflictError, match="There is no source 'gone'"):
        scoped(services, Scope(sources=("gone",))).named("leave policy")
