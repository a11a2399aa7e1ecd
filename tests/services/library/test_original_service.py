from pathlib import Path

import pytest

from domain import LOCAL_USER, Principal
from errors import NotFoundError, UnreadableError

BERT = Principal("bert")
TEXT = b"# Leave\n\nNew employees get 25 days."


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


@pytest.fixture
def folder(services, tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_bytes(TEXT)
    services.directories.import_directory(LOCAL_USER, folder)
    return folder


@pytest.fixture
def document_id(services, folder):
    [document] = services.search.documents.list()
    return document.id


def test_the_file_of_a_folder_can_be_read(services, document_id):
    original = services.originals.find(LOCAL_USER, document_id)
    assert (original.name, original.is_current) == ("leave.md", True)
    assert services.originals.read(LOCAL_USER, document_id) == TEXT


def test_a_file_that_has_changed_is_recognized(services, document_id, folder):
    (folder / "leave.md").write_bytes(TEXT + b" Or 30.")
    assert not services.originals.find(LOCAL_USER, document_id).is_current


def test_a_missing_file_is_an_error(services, document_id, folder):
    (folder / "leave.md").unlink()
    with pytest.raises(UnreadableError, match=r"leave\.md no longer exists"):
        services.originals.find(LOCAL_USER, document_id)
    (folder / "leave.md").mkdir()
    with pytest.raises(UnreadableError, match=r"leave\.md no longer exists"):
        services.originals.find(LOCAL_USER, document_id)


def test_a_link_out_of_the_folder_is_not_followed(services, document_id, folder, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_bytes(TEXT)
    (folder / "leave.md").unlink()
    (folder / "leave.md").symlink_to(secret)
    with pytest.raises(UnreadableError, match="no longer in the folder"):
        services.originals.read(LOCAL_USER, document_id)


def test_a_link_into_the_data_folder_is_not_followed(build_services, tmp_path):
    services = build_services(embed=True)
    data_dir = Path(services.originals.data_dir)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.md").write_bytes(TEXT)
    services.directories.import_directory(LOCAL_USER, tmp_path / "own")
    [document] = services.search.documents.list()
    (tmp_path / "own" / "a.md").unlink()
    (tmp_path / "own" / "a.md").symlink_to(
        next(one for one in data_dir.rglob("*") if one.is_file())
    )
    with pytest.raises(UnreadableError, match="no longer in the folder"):
        services.originals.find(LOCAL_USER, document.id)


def test_an_uploaded_file_is_read_only_by_its_owner(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Mine").id
    services.uploads.add(LOCAL_USER, [("pay.md", TEXT)], conversation_id=conversation_id)
    box = services.uploads.box_of(LOCAL_USER, conversation_id)
    services.imports.run(LOCAL_USER, box, services.uploads.loader(box))
    [document] = services.search.documents.list(box.id)
    assert services.originals.read(LOCAL_USER, document.id) == TEXT
    with pytest.raises(NotFoundError):
        services.originals.read(BERT, document.id)


def test_an_unknown_document_is_an_error(services):
    with pytest.raises(NotFoundError):
        services.originals.find(LOCAL_USER, "nowhere")
