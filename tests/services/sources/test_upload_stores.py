"""Uploaded files in a bucket become the same documents as uploaded files in a folder."""

import io
import random
import zipfile

import pytest
from fastapi.testclient import TestClient

from api.application import make_app
from domain import LOCAL_USER, ImportState
from domain.errors import NotFoundError, StorageUnavailableError, UnreadableError
from storage import upload_bucket
from tests.api.conftest import bearer
from tests.s3.proxy import Fault
from tests.s3.server import SECRET_KEY

pytestmark = pytest.mark.s3

NAMES = (
    "leave.md",
    "여행 규정.txt",
    "cafe\u0301.md",
    "../up.md",
    "a b/#?%.md",
    "table.csv",
    "tool.exe",
)
SEEDS = range(3)


@pytest.fixture
def in_folder(build_services, tmp_path):
    return build_services(embed=True, data_dir=tmp_path / "with-folder")


@pytest.fixture
def in_bucket(build_services, s3_proxy, bucket_url, tmp_path):
    settings = {"uploads_url": bucket_url, **s3_proxy.server.settings}
    return build_services(embed=True, data_dir=tmp_path / "with-bucket", **settings)


@pytest.fixture
def _impatient(monkeypatch):
    monkeypatch.setattr(upload_bucket, "_ATTEMPTS", 1)


def archive(**contents):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, text in contents.items():
            file.writestr(f"rules/{name}.md", text)
    return data.getvalue()


class Person:
    """Does the same random things with each library, and collects what a person sees."""

    def __init__(self, services, seed):
        self.services = services
        self.random = random.Random(seed)

    def act(self):
        action = self.random.choice([self.add, self.add, self.add_archive, self.delete])
        return action(), self.load()

    def add(self):
        names = self.random.sample(NAMES, 3)
        files = [(name, f"# Text {self.random.randrange(4)}".encode()) for name in names]
        result = self.services.uploads.add(LOCAL_USER, files, box="Rules")
        return result.accepted, result.rejections

    def add_archive(self):
        data = archive(one=f"One {self.random.randrange(4)}", two="Two")
        done = self.services.uploads.add(LOCAL_USER, [("x.zip", data)], box="Rules", unpack=True)
        return done.accepted, done.rejections

    def delete(self):
        name = self.random.choice(NAMES)
        try:
            self.services.uploads.delete(LOCAL_USER, self.box.id, name)
        except (NotFoundError, IndexError):
            return f"no {name}"
        return f"deleted {name}"

    @property
    def box(self):
        return self.services.uploads.boxes(LOCAL_USER)[0]

    def load(self):
        boxes = self.services.uploads.boxes(LOCAL_USER)
        if not boxes:
            return None
        run = load(self.services, boxes[0].id)
        items = self.services.import_reports.items(LOCAL_USER, run.id, limit=100)
        report = [(item.key, item.outcome, item.reason, item.passages) for item in items]
        files = self.services.uploads.keys(LOCAL_USER, boxes[0].id)
        return run.state, run.message, run.counts, report, files, self.documents()

    def documents(self):
        documents = self.services.library.documents.list()
        return sorted(
            (one.key, one.version, one.title, one.revision, one.characters) for one in documents
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_uploads_lead_to_the_same_documents_and_reports(in_folder, in_bucket, seed):
    one, other = Person(in_folder, seed), Person(in_bucket, seed)
    for _step in range(12):
        assert one.act() == other.act()
    assert one.documents()
    assert not (in_bucket.parts.settings.data_dir / "uploads").exists()
    assert in_bucket.maintenance.check(LOCAL_USER).agrees


def upload(services, text=b"# Leave\n\n25 days.", name="leave.md"):
    return services.uploads.add(LOCAL_USER, [(name, text)], box="Rules").source_id


def load(services, source_id):
    run = services.queue.enqueue(LOCAL_USER, source_id)
    services.worker.run_next()
    return services.queue.get(LOCAL_USER, run.id)


def test_an_unchanged_file_is_not_read_again(in_bucket, s3_proxy):
    box = upload(in_bucket)
    load(in_bucket, box)
    s3_proxy.methods()
    assert load(in_bucket, box).counts == {"unchanged": 1}
    assert s3_proxy.methods() == ["GET", "HEAD"], "only listed"


def test_a_library_that_moves_into_a_bucket_reads_nothing_again(
    in_folder, build_services, s3_server, bucket_url
):
    box = upload(in_folder)
    load(in_folder, box)
    data_dir, bucket = in_folder.parts.settings.data_dir, bucket_url.split("/")[2]
    for file in (data_dir / "uploads").rglob("*.md"):
        key = f"footnote/main/{file.relative_to(data_dir).as_posix()}"
        s3_server.client().put_object(Bucket=bucket, Key=key, Body=file.read_bytes())
    moved = build_services(
        embed=True, data_dir=data_dir, uploads_url=bucket_url, **s3_server.settings
    )
    assert load(moved, box).counts == {"unchanged": 1}
    assert moved.library.documents.list()[0].revision == 1


@pytest.mark.usefixtures("_impatient")
def test_an_import_from_a_bucket_that_fails_is_resumed_and_removes_nothing(
    in_bucket, s3_proxy, capsys
):
    box = upload(in_bucket)
    load(in_bucket, box)
    upload(in_bucket, b"# Travel", "travel.md")
    for faults in ([Fault.SLOW_DOWN], [None, Fault.SLOW_DOWN], [None, None, None, Fault.TRUNCATED]):
        s3_proxy.faults = list(faults)
        interrupted = load(in_bucket, box)
        assert (interrupted.state, interrupted.ended) == (ImportState.INTERRUPTED, False)
        assert "The uploaded files of this library can't be reached" in interrupted.message
        assert "FOOTNOTE_UPLOADS_URL can't be used" in capsys.readouterr().err
        assert [one.key for one in in_bucket.library.documents.list()] == ["leave.md"]
        in_bucket.queue.cancel(LOCAL_USER, interrupted.id)
    assert load(in_bucket, box).counts == {"unchanged": 1, "new": 1}


@pytest.mark.usefixtures("_impatient")
def test_an_upload_that_fails_leaves_no_box_and_does_not_count(in_bucket, s3_proxy):
    s3_proxy.faults = [Fault.SLOW_DOWN] * 2
    with pytest.raises(StorageUnavailableError, match="SlowDown"):
        upload(in_bucket)
    assert in_bucket.uploads.boxes(LOCAL_USER) == []
    s3_proxy.faults = [None, None, Fault.SLOW_DOWN]
    with pytest.raises(StorageUnavailableError, match="SlowDown"):
        upload(in_bucket)
    assert in_bucket.uploads.boxes(LOCAL_USER) == []
    upload(in_bucket)


def test_a_removed_source_leaves_nothing_in_the_bucket(in_bucket, s3_server, bucket_url):
    box = upload(in_bucket)
    load(in_bucket, box)
    in_bucket.sources.delete(LOCAL_USER, box)
    while in_bucket.worker.run_next():
        pass
    assert "Contents" not in s3_server.client().list_objects_v2(Bucket=bucket_url.split("/")[2])


@pytest.mark.usefixtures("_impatient")
def test_the_original_file_is_read_from_the_bucket(in_bucket, s3_proxy):
    text = b"# Leave\n\n25 days."
    box = upload(in_bucket)
    load(in_bucket, box)
    [document] = in_bucket.library.documents.list()
    original = in_bucket.originals.find(LOCAL_USER, document.id)
    assert (original.name, original.path, original.is_current) == ("leave.md", None, True)
    assert in_bucket.originals.read(LOCAL_USER, document.id) == text
    with pytest.raises(UnreadableError, match="at most 0"):
        in_bucket.originals.find(LOCAL_USER, document.id, max_bytes=3)
    upload(in_bucket, b"# Leave\n\n30 days.")
    assert not in_bucket.originals.find(LOCAL_USER, document.id).is_current
    s3_proxy.faults = [Fault.SLOW_DOWN]
    with pytest.raises(UnreadableError, match="uploaded files of this library can't be reached"):
        in_bucket.originals.read(LOCAL_USER, document.id)
    in_bucket.uploads.delete(LOCAL_USER, box, "leave.md")
    with pytest.raises(UnreadableError, match=r"leave\.md no longer exists"):
        in_bucket.originals.read(LOCAL_USER, document.id)


def test_the_original_file_is_downloaded_from_the_bucket(in_bucket):
    load(in_bucket, upload(in_bucket, name="휴가 규정.md"))
    [document] = in_bucket.library.documents.list()
    client = TestClient(make_app(in_bucket), headers=bearer(in_bucket))
    response = client.get(f"/api/v1/documents/{document.id}/original")
    assert response.content == b"# Leave\n\n25 days."
    assert response.headers["content-type"] == "application/octet-stream"
    name = "%ED%9C%B4%EA%B0%80%20%EA%B7%9C%EC%A0%95.md"
    assert response.headers["content-disposition"] == f"attachment; filename*=utf-8''{name}"


@pytest.fixture
def bucket_line(line, s3_server, bucket_url):
    settings = {"uploads_url": bucket_url, **s3_server.settings}
    line.environment |= {f"FOOTNOTE_{name.upper()}": text for name, text in settings.items()}
    return line


def test_check_reports_a_bucket_that_cannot_be_used(bucket_line):
    assert "all agree" in bucket_line.run("check").stdout
    bucket_line.environment["FOOTNOTE_UPLOADS_URL"] = "s3://missing"
    error = bucket_line.run("check", code=1).stderr
    assert "The bucket s3://missing of FOOTNOTE_UPLOADS_URL can't be used now" in error
    assert SECRET_KEY not in error


def test_a_backup_says_that_it_lacks_the_files_of_the_bucket(bucket_line, bucket_url, tmp_path):
    bucket_line.run("check")
    output = bucket_line.run("backup", tmp_path).stdout
    assert f"The uploaded files in {bucket_url} are not in the backup" in output
