import time
from dataclasses import replace

import pytest

from domain import LOCAL_USER, ImportKind, ImportState, Outcome, Principal, Role, Stage
from domain.errors import NotFoundError
from services.imports import leased_run

pytestmark = pytest.mark.usefixtures("ledger_kind")

BERT = Principal("bert")


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


@pytest.fixture
def berts_box(services):
    """The upload box of a conversation of Bert, which only he can see."""
    conversation_id = services.conversations.begin(BERT, "Salaries").id
    return services.uploads.add(BERT, [("a.md", b"# A")], conversation_id=conversation_id).source_id


@pytest.fixture
def source(services, handbook):
    """A source that was never imported."""
    return services.source_kinds.get("directory").add(LOCAL_USER, {"path": str(handbook)}).source


def enqueue(services, source, **options):
    return services.queue.enqueue(LOCAL_USER, source.id, **options)


def test_without_a_worker_waiting_runs_the_import(services, source):
    reports = []
    job = enqueue(services, source)
    assert job.state is ImportState.QUEUED
    assert services.queue.current(LOCAL_USER) == [job]

    run = services.worker.wait(LOCAL_USER, job.id, reports.append)
    assert run.state is ImportState.COMPLETED
    assert run.counts == {"new": 4}
    assert (run.ended, services.queue.current(LOCAL_USER)) == (True, [])
    assert services.queue.history(LOCAL_USER, source.id) == [run]
    assert {progress.total for progress in reports[-4:]} == {4}


def test_waiting_does_not_report_older_progress_after_the_end(services, source, monkeypatch):
    monkeypatch.setattr(leased_run, "_TICK_S", 0.01)
    monkeypatch.setattr(leased_run, "_SAVE_S", 0)
    stages = []

    def note(progress):
        stages.append(progress.stage)
        if progress.stage is Stage.LISTING:
            time.sleep(0.1)  # meanwhile, this progress is saved in the record
        else:
            monkeypatch.setattr(leased_run, "_SAVE_S", 1000)  # and no later progress

    services.worker.wait(LOCAL_USER, enqueue(services, source).id, note)
    assert Stage.LISTING in stages
    assert stages[-1] is not Stage.LISTING


def test_a_repeated_request_is_queued_once(services, source):
    first = enqueue(services, source)
    assert enqueue(services, source) == first
    others = [
        enqueue(services, source, keys=["vpn.md"]),
        enqueue(services, source, confirm_removals=True),
        enqueue(services, source, kind=ImportKind.DRY_RUN),
    ]
    assert len({first.id, *(other.id for other in others)}) == 4
    assert [job.id for job in services.queue.current(LOCAL_USER, source.id)] == [
        first.id,
        *(other.id for other in others),
    ]
    assert services.queue.current(LOCAL_USER, "another") == []


def test_a_dry_run_predicts_the_import(services, source):
    dry = services.worker.wait(LOCAL_USER, enqueue(services, source, kind=ImportKind.DRY_RUN).id)
    real = services.worker.wait(LOCAL_USER, enqueue(services, source).id)
    assert dry.counts == real.counts == {"new": 4}


def test_keys_limit_an_import_and_force_reading_unchanged_documents(services, source, model_server):
    services.worker.wait(LOCAL_USER, enqueue(services, source).id)
    job = services.worker.wait(LOCAL_USER, enqueue(services, source, keys=["vpn.md"]).id)
    report = services.imports.report(LOCAL_USER, job.id)
    assert [(item.key, item.outcome) for item in report.items] == [("vpn.md", Outcome.CHANGED)]


def test_a_queued_import_is_paused_resumed_and_canceled_immediately(services, source):
    queue, job = services.queue, enqueue(services, source)
    assert queue.pause(LOCAL_USER, job.id).state is ImportState.PAUSED
    assert not services.worker.run_next()
    assert enqueue(services, source).id == job.id
    assert queue.resume(LOCAL_USER, job.id).state is ImportState.QUEUED
    cancelled = queue.cancel(LOCAL_USER, job.id)
    assert (cancelled.state, cancelled.ended) == (ImportState.CANCELLED, True)
    assert not services.worker.run_next()
    for change in (queue.pause, queue.resume, queue.cancel):
        assert change(LOCAL_USER, job.id) == cancelled


def test_waiting_for_a_paused_import_returns_immediately(services, source):
    job = enqueue(services, source)
    services.queue.pause(LOCAL_USER, job.id)
    assert services.worker.wait(LOCAL_USER, job.id).state is ImportState.PAUSED


def test_a_removal_deletes_the_source_and_its_import_runs(services, source):
    services.worker.wait(LOCAL_USER, enqueue(services, source).id)
    removal = enqueue(services, source, kind=ImportKind.REMOVAL)
    assert services.worker.run_next()
    with pytest.raises(NotFoundError):
        services.queue.get(LOCAL_USER, removal.id)
    assert services.library.status(LOCAL_USER).documents == 0
    assert services.maintenance.check(LOCAL_USER).agrees


def test_waiting_for_a_removal_reports_completion_although_its_record_is_deleted(services, source):
    removal = enqueue(services, source, kind=ImportKind.REMOVAL)
    run = services.worker.wait(LOCAL_USER, removal.id)
    assert (run.id, run.state, run.ended) == (removal.id, ImportState.COMPLETED, True)


def test_waiting_for_an_import_of_a_removed_source_raises_not_found(services, source):
    removal = enqueue(services, source, kind=ImportKind.REMOVAL)
    job = enqueue(services, source)
    with pytest.raises(NotFoundError):
        services.worker.wait(LOCAL_USER, job.id)
    assert removal.id != job.id


def test_finished_imports_are_counted_for_users_who_can_see_them(services, source, berts_box):
    services.queue.enqueue(BERT, berts_box)
    for _ in range(2):
        services.worker.wait(LOCAL_USER, enqueue(services, source).id)
    enqueue(services, source)
    assert services.queue.count_history(LOCAL_USER, source.id) == 2
    assert services.queue.count_history(BERT, berts_box) == 1
    assert services.queue.count_history(LOCAL_USER, berts_box) == 0


def test_requests_for_an_unknown_source_or_import_are_rejected(services):
    for request in (services.queue.enqueue, services.queue.get, services.queue.pause):
        with pytest.raises(NotFoundError):
            request(LOCAL_USER, "nothing")


def test_requests_for_the_source_of_another_user_are_rejected(services, berts_box):
    with pytest.raises(NotFoundError):
        services.queue.enqueue(LOCAL_USER, berts_box, ImportKind.REMOVAL)
    assert services.queue.current(BERT) == []


@pytest.mark.parametrize("method", ["get", "pause", "resume", "cancel", "wait"])
def test_an_import_of_the_source_of_another_user_is_not_found_and_unchanged(
    services, berts_box, method
):
    job = services.queue.enqueue(BERT, berts_box)
    if method == "resume":
        job = services.queue.pause(BERT, job.id)
    with pytest.raises(NotFoundError):
        getattr(services.worker if method == "wait" else services.queue, method)(LOCAL_USER, job.id)
    assert services.queue.get(BERT, job.id) == job


def test_imports_of_the_source_of_another_user_are_not_listed(services, berts_box, source):
    shared = enqueue(services, source)
    bert = services.queue.enqueue(BERT, berts_box)
    assert services.queue.current(LOCAL_USER) == [shared]
    assert services.queue.current(LOCAL_USER, berts_box) == []
    assert services.queue.current(BERT) == [bert]
    assert services.queue.current(replace(BERT, role=Role.EDITOR)) == [shared, bert]
    assert services.queue.busy_sources() == {source.id, berts_box}

    run = services.worker.wait(BERT, bert.id)
    assert services.queue.history(BERT, berts_box) == [run]
    assert services.queue.history(LOCAL_USER, berts_box) == []
