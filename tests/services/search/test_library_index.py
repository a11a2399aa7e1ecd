import pytest

from domain import LOCAL_USER, SearchChoice
from tests.fakes.restaurants import import_restaurants


@pytest.fixture
def services(build_services):
    return build_services(embed=True)


def test_libraries_without_the_sample_documents_have_no_samples(services, handbook):
    assert not services.library.status(LOCAL_USER).has_samples
    services.directories.import_directory(LOCAL_USER, handbook)
    status = services.library.status(LOCAL_USER)
    assert (status.documents, status.has_samples) == (4, False)


def test_a_library_with_sample_and_other_documents_has_samples(imported_samples, handbook):
    services = imported_samples(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    assert services.library.status(LOCAL_USER).has_samples
    assert not services.library.status(LOCAL_USER).has_only_samples


def test_files_of_conversations_are_not_part_of_the_size_of_the_library(imported_samples):
    services = imported_samples(embed=True)
    before = services.library.status(LOCAL_USER)
    conversation = services.conversations.begin(LOCAL_USER, "Trip", SearchChoice())
    done = services.uploads.add(
        LOCAL_USER, [("trip.txt", b"We leave at noon.")], conversation_id=conversation.id
    )
    services.queue.enqueue(LOCAL_USER, done.source_id)
    while services.worker.run_next():
        pass
    assert services.library.documents.count() == before.documents + 1
    assert services.library.status(LOCAL_USER) == before
    assert before.has_only_samples


def test_places_of_catalogs_do_not_count_as_documents(services, handbook, tmp_path):
    services.directories.import_directory(LOCAL_USER, handbook)
    before = services.library.status(LOCAL_USER)
    assert not services.library.has_catalogs(LOCAL_USER)
    import_restaurants(services, tmp_path / "restaurants")
    after = services.library.status(LOCAL_USER)
    assert (after.documents, after.passages) == (before.documents, before.passages)
    assert services.library.has_catalogs(LOCAL_USER)
