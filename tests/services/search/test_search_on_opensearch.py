"""Searches of a library whose index is on OpenSearch."""

import uuid

import pytest

from domain import LOCAL_USER, SearchMode
from domain.errors import StorageError, StorageUnavailableError
from domain.public_messages import message_for_everyone
from services.search.searchable_library import PARTLY_DAMAGED

pytestmark = pytest.mark.opensearch


@pytest.fixture
def build_on_opensearch(build_services, opensearch, os_client):
    alias = f"library-{uuid.uuid4().hex[:12]}"

    def build(**settings):
        return build_services(
            **{"search_url": opensearch.url, "search_index": alias, "search_replicas": 0} | settings
        )

    yield build
    os_client.indices.delete(index=f"{alias}-*", ignore_unavailable=True)


@pytest.fixture
def services(build_on_opensearch, handbook):
    services = build_on_opensearch()
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


@pytest.fixture
def embedded(imported, tmp_path):
    return imported(data_dir=tmp_path / "embedded")


def results(services, question, **options):
    found = services.search.search(LOCAL_USER, question, **options)
    return [(one.metadata["key"], pytest.approx(one.metadata["score"], abs=1e-4)) for one in found]


def test_the_results_equal_those_of_the_embedded_stores(services, embedded):
    for mode in SearchMode:
        for question in ("annual leave of new employees", "연차 휴가", "年次休暇"):
            found = results(services, question, mode=mode, k=4)
            assert found == results(embedded, question, mode=mode, k=4)

    typed = "anual leav of new employees"
    corrected = services.search.respell(LOCAL_USER, typed)
    assert corrected == embedded.search.respell(LOCAL_USER, typed)
    assert "annual" in corrected


def test_a_condition_holds_in_every_mode(services):
    for mode in SearchMode:
        found = results(services, "leave 휴가 休暇", mode=mode, k=9, condition={"key": "휴가.md"})
        assert {key for key, _ in found} <= {"휴가.md"}


def test_both_lists_of_the_default_mode_are_fetched_in_one_request(services, monkeypatch):
    client = services.parts.search_cluster.client
    requests, send = [], client.transport.perform_request

    def recorded(method, url, **options):
        requests.append(url)
        return send(method, url, **options)

    services.search.search(LOCAL_USER, "annual leave", mode=SearchMode.CONVEX)
    monkeypatch.setattr(client.transport, "perform_request", recorded)
    services.search.search(LOCAL_USER, "annual leave for interns", mode=SearchMode.ENSEMBLE)
    assert requests == ["/_msearch"]


def test_a_reindex_between_opening_and_searching_is_noticed(
    services, build_on_opensearch, monkeypatch
):
    open_index, opened = services.library.open_index, []

    def open_then_reindex(_library):
        opened.append(open_index())
        if len(opened) == 1:
            build_on_opensearch(passage_chars=200).maintenance.reindex(LOCAL_USER)
        return opened[-1]

    monkeypatch.setattr(type(services.library), "open_index", open_then_reindex)
    [(key, _)] = results(services, "annual leave", k=1)
    assert key == "leave.md"
    assert len(opened) == 2


def test_an_unreachable_cluster_is_reported_to_the_person_who_searches(
    services, build_on_opensearch, capsys
):
    cut_off = build_on_opensearch(search_url="http://127.0.0.1:9", search_timeout_s=1)
    with pytest.raises(StorageUnavailableError, match="127.*FOOTNOTE_SEARCH_URL") as caught:
        results(cut_off, "annual leave")
    message = message_for_everyone(caught.value)
    assert message.startswith("The search server of this library can't be used at the moment")
    assert "127.0.0.1:9" in capsys.readouterr().err
    status = cut_off.library.status(LOCAL_USER)
    assert status.documents > 0
    assert results(services, "annual leave", k=1)


def test_a_library_without_the_address_of_its_cluster_says_what_to_set(
    services, build_on_opensearch
):
    without = build_on_opensearch(search_url="")
    notices = without.library.status(LOCAL_USER).notices
    assert any("FOOTNOTE_SEARCH_URL" in notice for notice in notices)
    assert PARTLY_DAMAGED not in notices
    with pytest.raises(StorageError, match="FOOTNOTE_SEARCH_URL"):
        results(without, "annual leave")
    assert services.library.damage() == ()
