import pytest

from domain import LOCAL_USER


@pytest.fixture
def services(build_services):
    return build_services()


def test_an_empty_library_and_one_of_own_documents_have_no_samples(services, handbook):
    assert not services.library.status(LOCAL_USER).has_samples
    services.directories.import_directory(LOCAL_USER, handbook)
    status = services.library.status(LOCAL_USER)
    assert (status.documents, status.has_samples) == (4, False)


def test_a_library_with_the_sample_documents_has_them_and_others_do_not_hide_them(
    services, handbook
):
    services.directories.import_samples_once(LOCAL_USER)
    services.directories.import_directory(LOCAL_USER, handbook)
    assert services.library.status(LOCAL_USER).has_samples
