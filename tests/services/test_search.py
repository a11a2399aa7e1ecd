import pytest

from domain import LOCAL_USER, SearchMode
from errors import InputError


@pytest.fixture
def search(build_services, handbook):
    services = build_services()
    services.directories.import_directory(LOCAL_USER, handbook)
    return services.search


@pytest.mark.parametrize("mode", list(SearchMode))
def test_each_mode_finds_passages_with_their_place_and_score(search, mode):
    found = search.search(LOCAL_USER, "annual leave of new employees", mode=mode, k=3)
    assert found
    for passage in found:
        assert {"title", "location", "page", "heading_path", "score"} <= passage.metadata.keys()


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("연차는", "휴가.md"),
        ("입사자", "휴가.md"),
        ("年次休暇", "休暇.md"),
        ("ＷｉｒｅＧｕａｒｄ", "vpn.md"),
        ("employee", "leave.md"),
    ],
)
def test_keywords_are_found_whatever_their_particle_width_or_form(search, query, key):
    found = search.search(LOCAL_USER, query, mode=SearchMode.BM25)
    assert found[0].metadata["key"] == key


def test_a_word_that_occurs_nowhere_finds_nothing(search):
    assert search.search(LOCAL_USER, "zebra", mode=SearchMode.BM25) == []


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_condition_holds_for_every_passage_in_every_mode(search, mode):
    found = search.search(
        LOCAL_USER, "leave 휴가 休暇", mode=mode, condition={"key": "휴가.md"}, k=9
    )
    assert {passage.metadata["key"] for passage in found} <= {"휴가.md"}


def test_a_reindex_while_the_question_is_condensed_does_not_lose_the_sources(
    build_services, handbook
):
    asking = build_services()
    asking.directories.import_directory(LOCAL_USER, handbook)
    retriever = asking.search.retriever(LOCAL_USER, k=1)  # made before the question is condensed
    build_services(passage_chars=200).maintenance.reindex(LOCAL_USER)
    assert retriever.invoke("annual leave")[0].metadata["key"] == "leave.md"


def test_an_empty_library_finds_nothing(build_services):
    assert build_services().search.search(LOCAL_USER, "anything") == []


@pytest.mark.parametrize(("query", "k"), [("  ", 5), ("leave", 0), ("leave", 10_000)])
def test_an_empty_query_or_a_senseless_k_is_refused(search, query, k):
    with pytest.raises(InputError):
        search.search(LOCAL_USER, query, k=k)


def test_a_query_of_100_000_characters_is_searched(search):
    assert search.search(LOCAL_USER, "annual leave " * 8000, mode=SearchMode.BM25)
