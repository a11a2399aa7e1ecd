from datetime import UTC, datetime, timedelta

import pytest

from domain import (
    LOCAL_USER,
    DocumentRef,
    ImportKind,
    ImportState,
    Principal,
    Scope,
    SearchChoice,
    SearchMode,
)
from domain.errors import InputError, NotFoundError, SourceError, StorageError
from services.access import Access
from services.sources.upload_archives import Upload
from services.sources.upload_limits import UploadLimits
from services.sources.upload_service import UploadService
from storage import upload_files
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import open_database
from storage.ledger.restriction_store import Restrictions
from storage.ledger.source_store import Sources
from storage.ledger.usage_store import Uploads
from storage.upload_files import UploadFiles
from tests.fakes.audit import audit_of

OTHER = Principal("other")


@pytest.fixture
def sources(tmp_path):
    return Sources(open_database(tmp_path))


@pytest.fixture
def conversations(tmp_path):
    return Conversations(open_database(tmp_path))


@pytest.fixture
def uploads(tmp_path, sources, conversations):
    database = open_database(tmp_path)
    access, audit = Access(sources, Restrictions(database)), audit_of(database)
    limits = UploadLimits(Uploads(database))
    return UploadService(UploadFiles(tmp_path), access, conversations, 100, audit, limits)


def versions_of(uploads, sources, source_id):
    entries = uploads.loader(sources.get(source_id)).list()
    return {ref.key: ref.version for ref in entries if isinstance(ref, DocumentRef)}


def test_files_are_stored_in_a_box_that_can_be_imported(uploads, sources, tmp_path):
    result = uploads.add(LOCAL_USER, [("a.md", b"# A"), ("../b.txt", b"B")], box="Contracts")
    assert result.accepted == ("a.md", "b.txt")
    assert not result.rejections
    box = sources.get(result.source_id)
    assert (box.kind, box.name, box.collection) == ("upload", "Contracts", "Contracts")
    assert (tmp_path / box.location / "b.txt").read_bytes() == b"B"
    assert list(versions_of(uploads, sources, box.id)) == ["a.md", "b.txt"]


def test_unusable_files_are_rejected_with_a_reason_and_the_rest_is_accepted(uploads):
    files = [("a.exe", b"MZ"), ("b.md", b""), ("c.md", b"x" * 101), ("..", b"x"), ("d.md", b"D")]
    result = uploads.add(LOCAL_USER, files)
    assert result.accepted == ("d.md",)
    reasons = dict(result.rejections)
    assert "does not read .exe files" in reasons["a.exe"]
    assert "empty" in reasons["b.md"]
    assert "FOOTNOTE_MAX_FILE_MB" in reasons["c.md"]
    assert "rename it" in reasons[".."]


def test_no_box_is_created_if_every_file_is_rejected(uploads, tmp_path):
    result = uploads.add(LOCAL_USER, [("a.exe", b"MZ")])
    assert result.source_id is None
    assert uploads.boxes(LOCAL_USER) == []
    assert not (tmp_path / "uploads").exists()


def test_a_file_replaces_one_with_the_same_name_unless_the_bytes_are_equal(
    uploads, sources, tmp_path
):
    box = uploads.add(LOCAL_USER, [("a.md", b"one"), ("b.md", b"B")]).source_id
    before = versions_of(uploads, sources, box)
    file = tmp_path / sources.get(box).location / "b.md"
    inode = file.stat().st_ino
    again = uploads.add(LOCAL_USER, [("a.md", b"two"), ("b.md", b"B")])
    after = versions_of(uploads, sources, box)
    assert again.source_id == box
    assert after["a.md"] != before["a.md"]
    assert after["b.md"] == before["b.md"]
    assert file.stat().st_ino == inode


def test_of_two_files_with_the_same_name_in_one_upload_the_last_is_stored(
    uploads, sources, tmp_path
):
    result = uploads.add(LOCAL_USER, [("x/a.md", b"one"), ("y/a.md", b"two")])
    assert result.accepted == ("a.md",)
    assert (tmp_path / sources.get(result.source_id).location / "a.md").read_bytes() == b"two"


def test_the_box_of_a_conversation_is_visible_only_to_its_owner(uploads, conversations, sources):
    conversation = conversations.create(LOCAL_USER, "About the contract")
    result = uploads.add(LOCAL_USER, [("a.md", b"A")], conversation_id=conversation.id)
    box = uploads.box_of(LOCAL_USER, conversation.id)
    assert box == sources.get(result.source_id)
    assert box.name == "About the contract"
    assert box.options["conversation_id"] == conversation.id
    assert uploads.boxes(LOCAL_USER) == [box]
    assert uploads.boxes(OTHER) == []
    with pytest.raises(NotFoundError):
        uploads.add(OTHER, [("b.md", b"B")], conversation_id=conversation.id)
    with pytest.raises(NotFoundError):
        uploads.keys(OTHER, box.id)


def test_uploading_to_a_renamed_box_keeps_its_settings(uploads, sources):
    box = sources.get(uploads.add(LOCAL_USER, [("a.md", b"A")], box="Old").source_id)
    sources.ensure("upload", box.location, name="New", options={"labels": ["hr"]})
    again = uploads.add(LOCAL_USER, [("b.md", b"B")], box="New")
    assert again.source_id == box.id
    assert sources.get(box.id).labels == ("hr",)


def test_the_last_file_of_a_folder_is_deleted_with_the_folder(uploads, sources, tmp_path):
    files = [Upload(name, b"A", has_path=True) for name in ("a/b/c.md", "a/d.md")]
    box = uploads.add(LOCAL_USER, files).source_id
    folder = tmp_path / sources.get(box).location
    uploads.delete(LOCAL_USER, box, "a/b/c.md")
    assert [one.name for one in (folder / "a").iterdir()] == ["d.md"]
    uploads.delete(LOCAL_USER, box, "a/d.md")
    assert list(folder.iterdir()) == []


def test_a_file_can_be_deleted_from_its_box_once(uploads, sources):
    box = uploads.add(LOCAL_USER, [("a.md", b"A"), ("b.md", b"B")]).source_id
    uploads.delete(LOCAL_USER, box, "a.md")
    assert uploads.keys(LOCAL_USER, box) == ["b.md"] == list(versions_of(uploads, sources, box))
    with pytest.raises(NotFoundError, match="a.md"):
        uploads.delete(LOCAL_USER, box, "a.md")
    with pytest.raises(NotFoundError):
        uploads.delete(LOCAL_USER, box, "../../footnote.sqlite")


def test_the_box_of_a_purged_conversation_is_removed_at_the_next_start(build_services, tmp_path):
    services = build_services(embed=True)
    conversation_ids = [
        services.conversations.begin(LOCAL_USER, name).id for name in ("kept", "gone")
    ]
    for conversation_id in conversation_ids:
        services.uploads.add(LOCAL_USER, [("a.md", b"# A")], conversation_id=conversation_id)
    services.uploads.add(LOCAL_USER, [("a.md", b"# A")])
    services.conversations.delete(LOCAL_USER, conversation_ids[1])
    assert services.access.sources.of_lost_conversations() == [], "it can still be restored"
    services.conversations.purge(datetime.now(UTC) + timedelta(days=31))
    abandoned = services.access.sources.of_lost_conversations()
    assert [one.name for one in abandoned] == ["gone"]
    restarted = build_services(embed=True)
    job = restarted.queue.current(LOCAL_USER)[0]
    assert (job.source_id, job.kind) == (abandoned[0].id, ImportKind.REMOVAL)
    restarted.worker.wait(LOCAL_USER, job.id)
    assert [one.name for one in restarted.uploads.boxes(LOCAL_USER)] == ["Uploads", "kept"]
    assert not (tmp_path / "data" / abandoned[0].location).exists()


def test_the_box_of_a_purged_conversation_of_another_user_is_also_removed(
    build_services,
):
    services = build_services(embed=True)
    conversation_id = services.conversations.begin(OTHER, "gone").id
    box = services.uploads.add(OTHER, [("a.md", b"# A")], conversation_id=conversation_id).source_id
    services.conversations.delete(OTHER, conversation_id)
    services.conversations.purge(datetime.now(UTC) + timedelta(days=31))
    [job] = build_services(embed=True).queue.current(OTHER)
    assert (job.source_id, job.kind) == (box, ImportKind.REMOVAL)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(sources=("handbook",)),
        Scope(collections=("handbook",)),
        Scope(formats=("pdf",)),
        Scope(labels=("law",)),
        Scope(until="1999-12-31"),
    ],
)
def test_files_of_a_conversation_are_searched_in_every_scope(imported, scope):
    services = imported(embed=True)
    search = SearchChoice(scope, SearchMode.BM25)
    conversation_id = services.conversations.begin(LOCAL_USER, "Lunch", search).id
    services.uploads.add(
        LOCAL_USER, [("lunch.txt", b"Lunch is at noon.")], conversation_id=conversation_id
    )
    box = services.uploads.box_of(LOCAL_USER, conversation_id)
    services.imports.run(LOCAL_USER, box, services.uploads.loader(box))
    turn = services.chat.ask(LOCAL_USER, "When is lunch?", conversation_id)
    assert [one.title for one in turn.sources] == ["lunch"]
    elsewhere = services.chat.ask(LOCAL_USER, "When is lunch?", search=search)
    assert not elsewhere.sources


def test_a_box_needs_a_name(uploads):
    with pytest.raises(InputError, match="no name"):
        uploads.add(LOCAL_USER, [("a.md", b"A")], box=" ")


def test_a_full_disk_is_reported_before_writing(uploads, monkeypatch):
    def full(folder, payload):
        raise StorageError("The disk is full.")

    monkeypatch.setattr(upload_files, "require_free_space", full)
    with pytest.raises(StorageError, match="full"):
        uploads.add(LOCAL_USER, [("a.md", b"A")])
    assert uploads.boxes(LOCAL_USER) == []


def test_an_interrupted_write_leaves_the_older_file(uploads, sources, tmp_path, monkeypatch):
    box = uploads.add(LOCAL_USER, [("a.md", b"old")]).source_id

    def fail(self, target):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(StorageError, match="Input/output error"):
        uploads.add(LOCAL_USER, [("a.md", b"new")])
    folder = tmp_path / sources.get(box).location
    assert [file.name for file in folder.iterdir()] == ["a.md"]
    assert (folder / "a.md").read_bytes() == b"old"


def test_the_folder_of_a_new_box_is_removed_if_its_files_cannot_be_written(
    uploads, tmp_path, monkeypatch
):
    monkeypatch.setattr("pathlib.Path.replace", full_disk)
    with pytest.raises(StorageError, match="No space left"):
        uploads.add(LOCAL_USER, [("a.md", b"A")])
    assert list((tmp_path / "uploads").iterdir()) == []
    assert uploads.boxes(LOCAL_USER) == []


@pytest.mark.parametrize("is_created", [True, False])
def test_a_failed_upload_does_not_delete_files_of_another_first_upload_to_the_box(
    uploads, conversations, tmp_path, monkeypatch, is_created
):
    conversation = conversations.create(LOCAL_USER, "About the contract")
    folder = tmp_path / "uploads" / conversation.id
    write = UploadFiles.write

    def write_beside_another_upload(files, location, name, data):
        if name == "mine.md":
            return write(files, location, name, data)
        monkeypatch.setattr(UploadFiles, "write", write)
        if is_created:
            uploads.add(LOCAL_USER, [("other.md", b"O")], conversation_id=conversation.id)
        else:
            write(files, location, "other.md", b"O")
        raise StorageError("The disk is full.")

    monkeypatch.setattr(UploadFiles, "write", write_beside_another_upload)
    files = [("mine.md", b"M"), ("big.md", b"B")]
    with pytest.raises(StorageError, match="full"):
        uploads.add(LOCAL_USER, files, conversation_id=conversation.id)
    assert (folder / "other.md").read_bytes() == b"O"
    assert (folder / "mine.md").exists() == is_created, "a source deletes it with its box"


def full_disk(file, target):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("report.pdf", "report.pdf/a.md", "there is already a file 'report.pdf'"),
        ("report.pdf/x/a.md", "report.pdf", "there is already a folder 'report.pdf'"),
    ],
)
@pytest.mark.parametrize("is_one_upload", [True, False])
def test_a_file_and_a_folder_of_the_same_name_are_not_both_stored(
    uploads, first, second, reason, is_one_upload
):
    files = [Upload(first, b"A", has_path=True), Upload(second, b"B", has_path=True)]
    if not is_one_upload:
        uploads.add(LOCAL_USER, files[:1])
    result = uploads.add(LOCAL_USER, files if is_one_upload else files[1:])
    assert reason in dict(result.rejections)[second]
    assert uploads.keys(LOCAL_USER, result.source_id) == [first]


def test_uploaded_files_can_be_searched(build_services):
    services = build_services(embed=True)
    result = services.uploads.add(LOCAL_USER, [("vpn.md", b"# VPN\n\nChoose Bristol.")])
    source = services.uploads.boxes(LOCAL_USER)[0]
    assert source.id == result.source_id
    report = services.imports.run(LOCAL_USER, source, services.uploads.loader(source))
    assert report.state is ImportState.COMPLETED
    passages = services.search.search(LOCAL_USER, "Bristol", k=1)
    assert passages[0].metadata["key"] == "vpn.md"
    assert "md" in services.uploads.extensions


def test_a_box_whose_folder_is_missing_keeps_its_documents(build_services, tmp_path):
    services = build_services()
    services.uploads.add(LOCAL_USER, [("vpn.md", b"# VPN\n\nChoose Bristol.")])
    [source] = services.uploads.boxes(LOCAL_USER)
    services.imports.run(LOCAL_USER, source, services.uploads.loader(source))
    services.uploads.files.folder(source.location).rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match="there is no file or folder"):
        services.imports.run(LOCAL_USER, source, services.uploads.loader(source))
    assert services.library.documents.count() == 1
