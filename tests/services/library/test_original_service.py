import shutil
from functools import partial
from pathlib import Path

import pytest

from domain import LOCAL_USER, Principal
from domain.errors import NotFoundError, UnreadableError
from services.library import original_service

BERT = Principal("bert")
SAMPLE = Path(__file__).parents[3] / "samples" / "documents" / "security-handbook.pdf"
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
    [document] = services.library.documents.list()
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


def test_a_folder_that_became_a_circular_link_has_no_files(services, document_id, folder):
    shutil.rmtree(folder)
    folder.symlink_to(folder)
    with pytest.raises(UnreadableError, match="no longer in the folder"):
        services.originals.read(LOCAL_USER, document_id)


@pytest.fixture
def pdf(services, folder):
    """The id of a PDF document, and its file."""
    shutil.copy(SAMPLE, folder / "security.pdf")
    services.directories.import_directory(LOCAL_USER, folder)
    [document] = [one for one in services.library.documents.list() if one.format == "pdf"]
    return document.id, folder / "security.pdf"


def test_a_pdf_page_is_rendered_only_while_the_file_is_unchanged(services, pdf):
    document_id, file = pdf
    assert services.originals.page_image(LOCAL_USER, document_id, 1).startswith(b"\x89PNG")
    file.write_bytes(b"another file")
    with pytest.raises(UnreadableError, match=r"security\.pdf has changed"):
        services.originals.page_image(LOCAL_USER, document_id, 1)
    file.unlink()
    with pytest.raises(UnreadableError, match=r"security\.pdf no longer exists"):
        services.originals.page_image(LOCAL_USER, document_id, 1)


def test_no_page_is_rendered_of_a_link_out_of_the_folder(services, pdf, tmp_path):
    document_id, file = pdf
    file.rename(tmp_path / "elsewhere.pdf")
    file.symlink_to(tmp_path / "elsewhere.pdf")
    with pytest.raises(UnreadableError, match="no longer in the folder"):
        services.originals.page_image(LOCAL_USER, document_id, 1)


def test_other_formats_than_pdf_have_no_page_images(services, document_id):
    with pytest.raises(UnreadableError, match="not a PDF"):
        services.originals.page_image(LOCAL_USER, document_id, 1)


def test_a_file_that_is_too_large_is_not_read(services, pdf, monkeypatch):
    document_id, file = pdf
    monkeypatch.setattr(original_service, "MAX_BYTES", file.stat().st_size - 1)
    for read in (services.originals.read, partial(services.originals.page_image, page=1)):
        with pytest.raises(UnreadableError, match=r"security\.pdf has .* MiB, and at most"):
            read(LOCAL_USER, document_id)
    assert services.originals.find(LOCAL_USER, document_id).path == file
    monkeypatch.setattr(original_service, "MAX_BYTES", file.stat().st_size)
    assert services.originals.read(LOCAL_USER, document_id) == SAMPLE.read_bytes()


def test_a_link_into_the_data_folder_is_not_followed(build_services, tmp_path):
    services = build_services(embed=True)
    data_dir = Path(services.originals.data_dir)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.md").write_bytes(TEXT)
    services.directories.import_directory(LOCAL_USER, tmp_path / "own")
    [document] = services.library.documents.list()
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
    [document] = services.library.documents.list(box.id)
    assert services.originals.read(LOCAL_USER, document.id) == TEXT
    with pytest.raises(NotFoundError):
        services.originals.read(BERT, document.id)
    with pytest.raises(NotFoundError):
        services.originals.page_image(BERT, document.id, 1)


def test_an_unknown_document_is_an_error(services):
    with pytest.raises(NotFoundError):
        services.originals.find(LOCAL_USER, "nowhere")
