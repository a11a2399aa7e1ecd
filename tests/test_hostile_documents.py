"""A document that takes too long is named in the record of its import, and the others are read."""

import pytest

from domain import LOCAL_USER, ImportState, Outcome
from loaders import document_reader
from loaders.document_reader import Limits, ReaderProcess
from tests.loaders import hostile_files
from ui.text.words import translated_into

LIMIT_S = 1


@pytest.fixture(autouse=True)
def _short_limit(monkeypatch):
    process = ReaderProcess(Limits(processor_s=LIMIT_S))
    monkeypatch.setattr(document_reader, "DOCUMENTS", process)
    yield
    process.end()


def test_an_import_names_a_document_that_takes_too_long_and_reads_the_others(
    build_services, handbook
):
    (handbook / "hotel.pdf").write_bytes(hostile_files.pdf_with_shared_stream())
    services = build_services(embed=True)
    report = services.directories.import_directory(LOCAL_USER, handbook)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    outcomes = {item.key: item.outcome for item in report.items}
    failed = {item.key: item.reason for item in report.items if item.outcome is Outcome.FAILED}
    assert list(failed) == ["hotel.pdf"]
    assert set(outcomes.values()) == {Outcome.NEW, Outcome.FAILED}
    assert len(outcomes) == 5
    reason = failed["hotel.pdf"]
    assert f"more than {LIMIT_S} s of processor time: split it" in reason
    assert f"{LIMIT_S}초 넘게" in translated_into("ko", reason)
    assert f"{LIMIT_S}秒を超えて" in translated_into("ja", reason)
