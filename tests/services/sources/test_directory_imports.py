import pytest

from domain import LOCAL_USER, ImportKind, ImportState, Outcome, Principal, SearchMode
from domain.errors import BusyError, ForbiddenError, InputError, SourceError
from services.long_work import ignore
from services.sources.source_service import SourceSettings
from storage.safe_writes import writer_lock


def test_a_second_import_of_an_unchanged_folder_embeds_nothing(
    build_services, handbook, model_server
):
    services = build_services(embed=True)
    first = services.directories.import_directory(LOCAL_USER, handbook)
    requests_before = len(model_server.requests)
    second = services.directories.import_directory(LOCAL_USER, handbook)
    assert first.count(Outcome.NEW) == second.count(Outcome.UNCHANGED) == 4
    assert second.passages_embedded == 0
    assert len(model_server.requests) == requests_before


def test_the_same_folder_given_by_another_path_is_the_same_source(
    build_services, handbook, monkeypatch
):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    monkeypatch.chdir(handbook.parent)
    again = services.directories.import_directory(LOCAL_USER, handbook.relative_to(handbook.parent))
    assert again.count(Outcome.UNCHANGED) == 4


def test_patterns_select_the_imported_files(build_services, handbook):
    report = build_services(embed=True).directories.import_directory(
        LOCAL_USER, handbook, include=["*.md"], exclude=["vpn*"]
    )
    assert sorted(item.key for item in report.items) == ["leave.md", "休暇.md", "휴가.md"]


def test_a_missing_folder_is_named(build_services, tmp_path):
    with pytest.raises(SourceError, match="nowhere"):
        build_services(embed=True).directories.import_directory(LOCAL_USER, tmp_path / "nowhere")


def test_samples_are_added_once_to_a_new_library(build_services):
    services = build_services(embed=True)
    samples = services.directories.add_samples_once(LOCAL_USER)
    report = import_source(services, samples)
    assert report.state is ImportState.COMPLETED
    assert services.library.status(LOCAL_USER).has_samples
    assert services.directories.add_samples_once(LOCAL_USER) is None


def test_samples_are_not_added_to_a_library_with_other_documents(imported):
    services = imported(embed=True)
    assert services.directories.add_samples_once(LOCAL_USER) is None


def test_removed_samples_return_only_on_request(imported_samples):
    services = imported_samples(embed=True)
    [source] = services.sources.list(LOCAL_USER)
    removal = services.queue.enqueue(LOCAL_USER, source.source.id, ImportKind.REMOVAL)
    services.worker.wait(LOCAL_USER, removal.id, ignore)
    assert services.directories.add_samples_once(LOCAL_USER) is None
    services.directories.import_samples(LOCAL_USER)
    assert services.library.status(LOCAL_USER).has_samples


def test_samples_are_added_again_after_their_import_was_canceled(build_services):
    services = build_services(embed=True)
    with pytest.raises(KeyboardInterrupt):
        services.directories.import_samples(LOCAL_USER, on_progress=interrupt)
    samples = services.directories.add_samples_once(LOCAL_USER)
    assert import_source(services, samples).state is ImportState.COMPLETED
    assert services.directories.add_samples_once(LOCAL_USER) is None


def interrupt(_progress):
    raise KeyboardInterrupt


def import_source(services, source):
    run = services.sources.refresh(LOCAL_USER, source.id)
    return services.worker.wait(LOCAL_USER, run.id)


def collections_of(services):
    hits = services.search.search(LOCAL_USER, "leave", mode=SearchMode.BM25)
    return {(hit.metadata["collection"], tuple(hit.metadata["labels"])) for hit in hits}


def test_collection_and_labels_are_kept_until_an_import_changes_them(build_services, handbook):
    services = build_services(embed=True)

    def load(**options):
        services.directories.import_directory(LOCAL_USER, handbook, **options)
        return collections_of(services)

    assert load() == {("handbook", ())}
    assert load(collection=" HR ", labels=["law", " ", "a"]) == {("HR", ("a", "law"))}
    assert load() == {("HR", ("a", "law"))}
    assert load(collection="", labels=[""]) == {("handbook", ())}


def test_patterns_set_on_the_page_are_kept_until_a_command_changes_them(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    [status] = services.sources.list(LOCAL_USER)
    fields = {"include": "*.md", "exclude": "vpn*\nleave*"}
    services.sources.edit(LOCAL_USER, status.source.id, fields, SourceSettings("Rules"))

    def load(**options):
        services.directories.import_directory(
            LOCAL_USER, handbook, confirm_removals=True, **options
        )
        documents = services.library.documents.list(status.source.id)
        return sorted(document.key for document in documents)

    assert load() == ["休暇.md", "휴가.md"]
    assert load(exclude=["vpn*", " "]) == ["leave.md", "休暇.md", "휴가.md"]
    assert load(include=["v*", "l*"]) == ["leave.md"]
    assert load(include=[""], exclude=[""]) == ["leave.md", "vpn.md", "休暇.md", "휴가.md"]


def test_an_invalid_pattern_leaves_the_source_unchanged(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    [before] = services.sources.list(LOCAL_USER)
    with pytest.raises(InputError):
        services.directories.import_directory(LOCAL_USER, handbook, include=["[z-a]*"])
    assert services.sources.list(LOCAL_USER) == [before]


def test_an_import_rejected_as_busy_leaves_the_source_unchanged(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    [before] = services.sources.list(LOCAL_USER)
    with writer_lock(services.parts.settings.data_dir), pytest.raises(BusyError):
        services.directories.import_directory(LOCAL_USER, handbook, collection="HR")
    [after] = services.sources.list(LOCAL_USER)
    assert after == before


def test_an_import_by_a_command_keeps_the_name_set_by_a_user(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    [status] = services.sources.list(LOCAL_USER)
    services.sources.edit(LOCAL_USER, status.source.id, {}, SourceSettings("Rules", "handbook"))
    services.directories.import_directory(LOCAL_USER, handbook)
    assert services.sources.list(LOCAL_USER)[0].source.name == "Rules"


def test_a_reader_can_not_import_a_folder(build_services, handbook):
    services, reader = build_services(), Principal("ada")
    with pytest.raises(ForbiddenError, match="editor"):
        services.directories.import_directory(reader, handbook)
    with pytest.raises(ForbiddenError, match="editor"):
        services.directories.import_samples(reader)
    assert services.sources.list(LOCAL_USER) == []
