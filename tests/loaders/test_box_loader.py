import hashlib

import pytest

from domain import DocumentRef, Skipped, StoredFile
from domain.errors import SourceUnavailableError, StorageUnavailableError, UnreadableError
from loaders.box_loader import BoxLoader

BOX, URL = "uploads/mine", "s3://bucket/uploads/mine"
MODIFIED_AT = "2026-11-21T10:00:00Z"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Box:
    """The files of one box in memory; those in `foreign` were stored by another program."""

    def __init__(self, **contents):
        self.contents = {name.replace("_", "."): data for name, data in contents.items()}
        self.foreign = set()
        self.reads = []
        self.error = None
        self.read_error = None

    def url(self, location):
        return f"s3://bucket/{location}"

    def files(self, location):
        assert location == BOX
        for name, data in sorted(self.contents.items()):
            yield self._file(name, data)
        if self.error:
            raise self.error

    def read(self, location, name, max_bytes):
        self.reads.append(name)
        if self.read_error:
            raise self.read_error
        data = self.contents[name]
        return self._file(name, data), data if len(data) <= max_bytes else b""

    def _file(self, name, data):
        version = "" if name in self.foreign else sha256(data)
        return StoredFile(name, len(data), version, MODIFIED_AT)


def loader(box):
    return BoxLoader(box, BOX, 100)


def test_files_are_listed_with_their_hash_and_without_being_read():
    box = Box(a_md=b"# A", b_txt=b"B")
    assert list(loader(box).list()) == [
        DocumentRef("a.md", sha256(b"# A"), f"{URL}/a.md"),
        DocumentRef("b.txt", sha256(b"B"), f"{URL}/b.txt"),
    ]
    assert not box.reads


def test_a_file_of_another_program_is_read_for_its_hash():
    box = Box(a_md=b"# A", b_md=b"# B")
    box.foreign.add("b.md")
    assert [ref.version for ref in loader(box).list()] == [sha256(b"# A"), sha256(b"# B")]
    assert box.reads == ["b.md"]


def test_a_file_of_another_program_that_is_removed_meanwhile_is_not_listed():
    box = Box(b_md=b"# B")
    box.foreign.add("b.md")
    box.read_error = FileNotFoundError()
    assert list(loader(box).list()) == []


def test_what_cannot_be_imported_is_skipped_with_the_reason_and_not_read():
    box = Box(a_exe=b"MZ", b_md=b"x" * 101)
    box.foreign.update(("a.exe", "b.md"))
    foreign, large = loader(box).list()
    assert isinstance(foreign, Skipped)
    assert (foreign.key, foreign.is_error) == ("a.exe", False)
    assert "exceeds the limit" in large.reason
    assert large.is_error
    assert not box.reads


def test_one_of_two_names_that_differ_only_in_their_unicode_form_is_skipped():
    box = Box()
    box.contents = {"cafe\u0301.md": b"1", "caf\u00e9.md": b"2"}
    listed, skipped = loader(box).list()
    assert (listed.key, listed.location) == ("caf\u00e9.md", f"{URL}/cafe\u0301.md")
    assert "another Unicode form" in skipped.reason
    assert loader(box).read(listed).page_content == "1"


def test_a_document_has_the_metadata_of_a_file_in_a_folder():
    document = loader(Box(a_md=b"# Leave\n\n25 days.")).read(
        DocumentRef("a.md", "old", f"{URL}/a.md")
    )
    assert "25 days" in document.page_content
    found = {name: document.metadata[name] for name in ("key", "version", "location", "title")}
    version = sha256(b"# Leave\n\n25 days.")
    assert found == {"key": "a.md", "version": version, "location": f"{URL}/a.md", "title": "Leave"}
    assert document.metadata["modified_at"] == MODIFIED_AT


def test_a_file_that_is_removed_or_has_grown_since_it_was_listed_is_unreadable():
    box = Box(a_md=b"x" * 101)
    ref = DocumentRef("a.md", "old", f"{URL}/a.md")
    with pytest.raises(UnreadableError, match="exceeds the limit"):
        loader(box).read(ref)
    box.read_error = FileNotFoundError()
    with pytest.raises(UnreadableError, match="was removed while the import was running"):
        loader(box).read(ref)


def test_a_bucket_that_cannot_be_used_makes_the_source_unavailable():
    box = Box(a_md=b"# A")
    error = StorageUnavailableError("The bucket is gone.")
    box.error = box.read_error = error
    listing = loader(box).list()
    ref = next(listing)
    with pytest.raises(SourceUnavailableError, match="The bucket is gone"):
        next(listing)
    with pytest.raises(SourceUnavailableError, match="The bucket is gone"):
        loader(box).read(ref)
    error.public_message = "Files can't be reached."
    with pytest.raises(SourceUnavailableError, match="Files can't be reached"):
        loader(box).read(ref)
