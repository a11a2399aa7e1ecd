"""What a person may upload per day, and what all of their files may occupy."""

from datetime import timedelta

import pytest

from domain import LOCAL_USER, Principal, Role, SearchChoice
from domain.errors import ConflictError, LimitError, StorageError
from services.access import Access
from services.sources.upload_limits import UploadLimits
from services.sources.upload_service import UploadKind, UploadService
from storage.ledger.conversation_store import Conversations
from storage.ledger.restriction_store import Restrictions
from storage.ledger.source_store import Sources
from storage.ledger.usage_store import Uploads
from storage.upload_files import UploadFiles
from tests.fakes import clock
from tests.fakes.audit import audit_of
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA, BERT = Principal("anna", role=Role.EDITOR), Principal("bert", role=Role.EDITOR)
MIB = 2**20


class Boxes:
    """Upload boxes with limits."""

    def __init__(self, data_dir, **limits):
        database = open_ledger(data_dir)
        self.sources = Sources(database)
        self.files = UploadFiles(data_dir)
        self.conversations = Conversations(database)
        self.uploads = UploadService(
            self.files,
            Access(self.sources, Restrictions(database)),
            self.conversations,
            100 * MIB,
            audit_of(database),
            UploadLimits(Uploads(database), **limits),
        )

    def add(self, *sizes, who=ANNA, name="file", **place):
        """Upload files of these sizes in MiB."""
        files = [(f"{name}{n}.txt", b"x" * int(size * MIB)) for n, size in enumerate(sizes)]
        return self.uploads.add(who, files, **place)

    def names(self):
        return [name for box in self.sources.list() for name in self.files.names(box.location)]


@pytest.fixture
def boxes(tmp_path):
    return lambda **limits: Boxes(tmp_path, **limits)


def test_files_beyond_the_daily_number_are_refused_and_none_is_stored(boxes):
    here = boxes(per_day=3)
    here.add(0.01, 0.01)
    with pytest.raises(LimitError) as refusal:
        here.add(0.01, 0.01, name="more")
    message = str(refusal.value)
    assert "2 files, and you have uploaded 2 of the 3" in message
    assert "FOOTNOTE_UPLOADS_PER_DAY" in message
    assert "try again in 24 h" in message
    assert 86_000 < refusal.value.retry_after_s <= 86_400
    assert here.names() == ["file0.txt", "file1.txt"]
    here.add(0.01, name="last")


def test_megabytes_beyond_the_daily_limit_are_refused(boxes):
    here = boxes(mb_per_day=2)
    here.add(1.5)
    with pytest.raises(LimitError, match=r"1\.0 MiB, and you have uploaded 1\.5 of the 2 MiB"):
        here.add(1, name="more")
    here.add(0.5, name="last")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"per_day": 1}, "has 2 files, and you may upload 1 a day"),
        ({"mb_per_day": 1}, r"has 1\.4 MiB, and you may upload 1 MiB a day"),
    ],
)
def test_an_upload_that_alone_exceeds_a_daily_limit_is_never_possible(boxes, limits, message):
    here = boxes(**limits)
    with pytest.raises(ConflictError, match=message):
        here.add(0.7, 0.7)
    assert here.names() == []
    assert here.sources.list() == []


def test_uploads_are_possible_again_when_enough_are_a_day_old(boxes, monkeypatch):
    here = boxes(per_day=2)
    here.add(0.01)
    clock.set_forward(monkeypatch, timedelta(hours=20))
    here.add(0.01, name="b")
    with pytest.raises(LimitError, match="try again in 4 h"):
        here.add(0.01, name="c")
    with pytest.raises(LimitError, match="try again in 24 h"):
        here.add(0.01, 0.01, name="d")
    clock.set_forward(monkeypatch, timedelta(hours=24, seconds=1))
    here.add(0.01, name="c")


def test_stored_files_may_not_exceed_the_storage(boxes):
    here = boxes(storage_mb=2)
    here.add(1, 0.5)
    with pytest.raises(ConflictError) as refusal:
        here.add(1, name="more")
    assert "1.0 MiB, and your files use 1.5 of the 2 MiB" in str(refusal.value)
    assert "FOOTNOTE_UPLOAD_STORAGE_MB" in str(refusal.value)
    assert here.names() == ["file0.txt", "file1.txt"]


def test_a_file_that_replaces_an_own_one_needs_only_the_difference(boxes):
    here = boxes(storage_mb=2)
    here.add(1.5)
    here.add(2)
    with pytest.raises(ConflictError):
        here.add(0.1, name="more")


def test_deleted_files_and_boxes_need_no_storage(boxes):
    here = boxes(storage_mb=2)
    box = here.add(1, 1).source_id
    here.uploads.delete(ANNA, box, "file0.txt")
    here.add(1, name="more")
    UploadKind(here.uploads).forget(here.sources.get(box))
    here.sources.remove(box)
    here.add(1, 1)


def test_files_of_conversations_count(boxes):
    here = boxes(storage_mb=2)
    turn = here.conversations.start_first_turn(
        ANNA, "title", "question", parent_id=None, remembered=None, search=SearchChoice()
    )
    here.add(1.5, conversation_id=turn.conversation_id)
    with pytest.raises(ConflictError):
        here.add(1)


def test_each_person_has_their_own_limits_and_the_operator_none(boxes):
    here = boxes(per_day=1, mb_per_day=1, storage_mb=1)
    here.add(1, who=ANNA, name="a")
    here.add(1, who=BERT, name="b")
    here.add(1, 1, who=LOCAL_USER, name="c")


def test_a_file_counts_for_the_person_who_uploaded_it_last(boxes):
    here = boxes(storage_mb=1)
    here.add(1, who=ANNA)
    here.add(1, who=BERT)
    here.add(1, who=ANNA, name="more")


def test_a_refused_upload_does_not_count(boxes):
    here = boxes(per_day=1, storage_mb=1)
    with pytest.raises(ConflictError):
        here.add(0.1, 0.1)
    with pytest.raises(ConflictError):
        here.add(2)
    here.add(1)


def test_uploads_of_other_processes_count(boxes):
    boxes(per_day=1).add(0.1)
    with pytest.raises(LimitError):
        boxes(per_day=1).add(0.1, name="more")


@pytest.mark.parametrize("error", [StorageError("full"), ValueError("full"), SystemExit("full")])
def test_an_upload_that_fails_does_not_count(boxes, monkeypatch, error):
    here = boxes(per_day=1, storage_mb=1)

    def fail(*_arguments):
        raise error

    with monkeypatch.context() as full:
        full.setattr(UploadFiles, "write", fail)
        with pytest.raises(type(error), match="full"):
            here.add(1)
    here.add(1)


def test_an_upload_whose_process_died_frees_its_storage_after_an_hour(boxes, monkeypatch):
    here = boxes(storage_mb=1)
    here.uploads.limits.reserve(ANNA, "uploads/box", {"a.txt": MIB})
    with pytest.raises(ConflictError):
        here.add(1)
    clock.set_forward(monkeypatch, timedelta(minutes=61))
    here.add(1)


def test_files_that_were_stored_without_limits_count_when_one_is_set(boxes):
    boxes().add(1)
    with pytest.raises(ConflictError):
        boxes(storage_mb=1).add(1, name="more")
