"""Uploaded zip archives and folders: each file in them becomes a document with its path."""

import io
import zipfile

import pytest

from domain import LOCAL_USER, Outcome
from domain.errors import SourceError
from services.sources import upload_archives
from services.sources.source_service import SourceSettings
from services.sources.upload_archives import Upload, extract_archives


def archive(files, *, encoding=None):
    """A zip archive; with an encoding, names are stored in it without declaring it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        for name, data in files.items():
            written.writestr(name if encoding is None else _undeclared(name, encoding), data)
    return buffer.getvalue()


class UndeclaredName(zipfile.ZipInfo):
    """A name in an encoding that the archive does not declare, as other programs write it."""

    encoding = ""

    def _encodeFilenameFlags(self):  # overrides zipfile's method
        return self.filename.encode(self.encoding), 0


def _undeclared(name, encoding):
    info = UndeclaredName(name)
    info.encoding = encoding
    return info


def paths(files):
    return [file.key for file in extract_archives(files).files]


def reasons(files):
    return {name: str(reason) for name, reason in extract_archives(files).rejections}


def test_the_files_of_an_archive_keep_their_paths():
    data = archive({"leave.md": b"# Leave", "rules/travel.md": b"# Travel"})
    assert paths([("handbook.zip", data), ("a.md", b"# A")]) == [
        "handbook/leave.md", "handbook/rules/travel.md", "a.md",
    ]  # fmt: skip


def test_the_name_of_an_archive_is_not_repeated():
    assert paths([("Rules.ZIP", archive({"Rules/a.md": b"# A"}))]) == ["Rules/a.md"]


def test_the_folder_of_an_archive_is_never_named_like_another_file_of_the_upload():
    data = archive({"report.pdf": b"%PDF"})
    assert paths([("report.pdf.zip", data), ("report.pdf", b"%PDF")]) == [
        "report.pdf_zip/report.pdf", "report.pdf",
    ]  # fmt: skip


def test_the_folder_of_an_archive_is_named_like_the_archive_if_no_file_has_that_name():
    assert paths([("report.pdf.zip", archive({"x.md": b"# X"}))]) == ["report.pdf/x.md"]


def test_archives_with_similar_names_have_folders_of_their_own():
    data = archive({"a.md": b"# A"})
    assert paths([("r.md.zip", data), ("r_md.zip", data), ("r.md", b"# R")]) == [
        "r.md_zip/a.md", "r_md/a.md", "r.md",
    ]  # fmt: skip


def test_a_file_with_the_path_of_one_from_an_earlier_archive_is_rejected():
    files = [
        ("a.zip", archive({"x.md": b"# First"})),
        ("a.zip", archive({"x.md": b"# Second", "y.md": b"# Y"})),
    ]
    extraction = extract_archives(files)
    assert [(file.key, file.data) for file in extraction.files] == [
        ("a/x.md", b"# First"), ("a/y.md", b"# Y"),
    ]  # fmt: skip
    assert "another archive of this upload" in reasons(files)["a/x.md"]
    assert extraction.archives == {"a.zip": ["a/x.md", "a/y.md"]}


def test_files_of_a_folder_keep_their_paths():
    assert paths([("handbook/leave.md", b"# Leave")]) == ["handbook/leave.md"]


def test_paths_that_lead_out_of_an_archive_stay_inside_the_box():
    data = archive({"../../evil.md": b"# Evil", "/etc/passwd.md": b"# Root"})
    assert paths([("a.zip", data)]) == ["a/evil.md", "a/etc/passwd.md"]


def test_hidden_files_of_an_archive_are_left_out():
    data = archive({"__MACOSX/._a.md": b"x", ".DS_Store": b"x", "a.md": b"# A"})
    assert paths([("box.zip", data)]) == ["box/a.md"]


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp949", ["휴가 규정/연차 휴가 안내.md", "휴가 규정/병가 신청 절차.md"]),
        ("cp932", ["休暇規程/病気休暇の手続き.md", "休暇規程/年次有給休暇について.md"]),
    ],
)
def test_names_of_archives_made_on_windows_are_decoded(encoding, names):
    data = archive(dict.fromkeys(names, b"# A"), encoding=encoding)
    assert paths([("docs.zip", data)]) == [f"docs/{name}" for name in names]


def test_an_encrypted_archive_is_rejected_with_what_to_do():
    data = bytearray(archive({"a.md": b"# A"}))
    data[6] |= 1  # the flag in the file's header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    assert "password-protected" in reasons([("secret.zip", bytes(data))])["secret.zip"]


def test_a_damaged_archive_is_rejected_and_the_other_files_are_accepted():
    files = [("broken.zip", b"PK no archive"), ("a.md", b"# A")]
    assert list(reasons(files)) == ["broken.zip"]
    assert paths(files) == ["a.md"]


def test_an_archive_that_unpacks_to_too_much_is_rejected():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("bomb.txt", bytes(64 * 2**20))
    assert "too much" in reasons([("bomb.zip", buffer.getvalue())])["bomb.zip"]


def test_archives_that_unpack_to_too_much_together_are_rejected(monkeypatch):
    monkeypatch.setattr(upload_archives, "MAX_BYTES", 2 * 2**20)
    data = archive({"a.txt": b"a" * 2**20, "unsupported.exe": b"a" * 2**20})
    files = [(name, data) for name in ("one.zip", "two.zip", "three.zip")]
    assert paths([*files, ("b.md", b"# B")]) == [
        "one/a.txt", "one/unsupported.exe", "two/a.txt", "two/unsupported.exe", "b.md",
    ]  # fmt: skip
    assert reasons(files) == {
        "three.zip": "the archives of this upload unpack to more than 2 MiB: upload this one"
        " separately"
    }


def upload(services, *files):
    fields = {"box": "Rules", "files": list(files)}
    return services.sources.add(LOCAL_USER, "upload", fields, SourceSettings())


def import_of(services, source):
    run = services.sources.refresh(LOCAL_USER, source.id)
    services.worker.wait(LOCAL_USER, run.id)
    items = services.imports.report(LOCAL_USER, run.id).items
    return {item.key: item.outcome for item in items}


def test_an_archive_that_is_uploaded_again_is_not_a_document_of_its_own_anymore(build_services):
    services = build_services(embed=True)
    data = archive({"leave.md": b"# Leave\n\nThere are 25 days."})
    services.uploads.add(LOCAL_USER, [("manual.zip", data)], box="Rules")
    [box] = services.uploads.boxes(LOCAL_USER)
    assert import_of(services, box) == {"manual.zip": Outcome.NEW}
    assert upload(services, ("manual.zip", data)).source.id == box.id
    assert import_of(services, box) == {
        "manual/leave.md": Outcome.NEW,
        "manual.zip": Outcome.REMOVED,
    }


def test_an_archive_none_of_whose_files_is_accepted_stays_a_document(build_services):
    services = build_services()
    services.uploads.add(LOCAL_USER, [("a.zip", archive({"a.md": b"# A"}))], box="Rules")
    added = upload(services, ("a.zip", archive({"x.exe": b"MZ"})), ("b.md", b"# B"))
    assert [one.key for one in added.rejections] == ["a/x.exe"]
    assert services.uploads.keys(LOCAL_USER, added.source.id) == ["a.zip", "b.md"]


def test_an_archive_that_is_uploaded_again_keeps_the_folder_of_its_files(build_services):
    services = build_services()
    folder = [Upload("report.pdf/x.md", b"# Old", has_path=True)]
    services.uploads.add(LOCAL_USER, folder, box="Rules")
    added = upload(services, ("report.pdf.zip", archive({"x.md": b"# New"})))
    assert services.uploads.keys(LOCAL_USER, added.source.id) == ["report.pdf/x.md"]


def test_the_folder_of_an_archive_is_never_named_like_a_file_in_the_box(build_services):
    services = build_services()
    services.uploads.add(LOCAL_USER, [("r.md", b"# R")], box="Rules")
    added = upload(services, ("r.md.zip", archive({"x.md": b"# X"})))
    keys = services.uploads.keys(LOCAL_USER, added.source.id)
    assert keys == ["r.md", "r.md_zip/x.md"]


def test_an_archive_in_an_archive_is_stored_beside_it(build_services):
    services = build_services()
    inner = archive({"leave.md": b"# Leave"})
    box = upload(services, ("docs.zip", archive({"manual.zip": inner})), ("docs/manual.zip", inner))
    keys = services.uploads.keys(LOCAL_USER, box.source.id)
    assert keys == ["docs/manual.zip", "docs/manual/leave.md"]


def test_an_archive_is_imported_file_by_file(build_services):
    services = build_services(embed=True)
    data = archive({"leave.md": b"# Leave", "rules/travel.md": b"# Travel", "x.exe": b"MZ"})
    fields = {"box": "Rules", "files": [("handbook.zip", data)]}
    added = services.sources.add(LOCAL_USER, "upload", fields, SourceSettings())
    assert [one.key for one in added.rejections] == ["handbook/x.exe"]
    services.worker.wait(LOCAL_USER, services.sources.refresh(LOCAL_USER, added.source.id).id)
    documents = services.library.documents.list()
    assert sorted(one.key for one in documents) == ["handbook/leave.md", "handbook/rules/travel.md"]
    services.uploads.delete(LOCAL_USER, added.source.id, "handbook/rules/travel.md")
    assert services.uploads.keys(LOCAL_USER, added.source.id) == ["handbook/leave.md"]


def test_an_archive_without_usable_files_is_reported(build_services):
    services = build_services()
    fields = {"box": "Rules", "files": [("a.zip", b"PK no archive")]}
    with pytest.raises(SourceError, match="a.zip"):
        services.sources.add(LOCAL_USER, "upload", fields, SourceSettings())
