"""The status page over real services."""

from dataclasses import replace

import pytest

from domain import LOCAL_USER
from domain.version import VERSION
from tests.pages.conftest import install_services, page_in_frame, page_text
from ui.text import words


@pytest.fixture
def services(monkeypatch, build_services):
    yield from install_services(build_services(), monkeypatch)


@pytest.fixture
def open_status(services):
    def open_page():
        page = page_in_frame("status.py").run()
        assert not page.exception
        return page_text(page)

    return open_page


def test_an_empty_library_has_no_index_and_no_problems(open_status):
    text = open_status()
    assert f"Footnote {VERSION}" in text
    assert words.STATUS_NO_INDEX in text
    assert words.STATUS_NO_WORKER in text
    assert words.STATUS_NO_RUNS in text
    assert words.STATUS_NO_PROBLEMS in text


def test_the_contents_the_index_and_the_queue_are_shown(services, handbook, open_status):
    services.directories.import_directory(LOCAL_USER, handbook)
    source = services.sources.list(LOCAL_USER)[0].source
    services.sources.refresh(LOCAL_USER, source.id)
    text = open_status()
    assert "4 documents" in text
    assert services.parts.configured.fingerprint in text
    assert "queued: 1" in text
    assert str(services.parts.settings.data_dir.resolve()) in text


def test_a_source_with_an_unreadable_file_is_listed_without_its_markup(
    services, handbook, open_status
):
    (handbook / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    report = services.directories.import_directory(LOCAL_USER, handbook)
    source = services.sources.list(LOCAL_USER)[0].source
    settings = services.sources.settings(LOCAL_USER, source.id)
    services.sources.edit(LOCAL_USER, source.id, {}, replace(settings, name="<b>Wiki</b>"))
    text = open_status()
    assert report.state.value == "completed with errors"
    assert "&lt;b&gt;Wiki&lt;/b&gt;" in text
    assert words.count(words.SOURCE_FAILED, 1) in text
