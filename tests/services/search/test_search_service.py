import pytest

from domain import LOCAL_USER, Principal, Scope, SearchMode
from domain.errors import ConfigError, ConflictError, InputError
from tests.fakes.cross_encoder import write_cross_encoder
from tests.fakes.reranker import reranking


@pytest.fixture
def search(imported):
    services = imported()
    return services.search


@pytest.mark.parametrize("mode", list(SearchMode))
def test_each_mode_finds_passages_with_their_location_and_score(search, mode):
    results = search.search(LOCAL_USER, "annual leave of new employees", mode=mode, k=3)
    assert results
    for passage in results:
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
def test_keywords_match_despite_different_particles_widths_and_forms(search, query, key):
    results = search.search(LOCAL_USER, query, mode=SearchMode.BM25)
    assert results[0].metadata["key"] == key


def test_a_word_that_occurs_nowhere_finds_nothing(search):
    assert search.search(LOCAL_USER, "zebra", mode=SearchMode.BM25) == []


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_condition_holds_for_every_passage_in_every_mode(search, mode):
    results = search.search(
        LOCAL_USER, "leave 휴가 休暇", mode=mode, condition={"key": "휴가.md"}, k=9
    )
    assert {passage.metadata["key"] for passage in results} <= {"휴가.md"}


def test_a_reindex_while_condensing_does_not_lose_the_sources(build_services, imported):
    services = imported()
    retriever = services.search.retriever(LOCAL_USER, k=1)  # made before the question is condensed
    build_services(passage_chars=200).maintenance.reindex(LOCAL_USER)
    assert retriever.invoke("annual leave")[0].metadata["key"] == "leave.md"


def test_an_empty_library_finds_nothing(build_services):
    assert build_services().search.search(LOCAL_USER, "anything") == []


@pytest.mark.parametrize(("query", "k"), [("  ", 5), ("leave", 0), ("leave", 10_000)])
def test_an_empty_query_or_an_invalid_k_is_rejected(search, query, k):
    with pytest.raises(InputError):
        search.search(LOCAL_USER, query, k=k)


def test_a_query_of_100_000_characters_is_searched(search):
    assert search.search(LOCAL_USER, "annual leave " * 8000, mode=SearchMode.BM25)


QUESTION = "annual leave of new employees"


@pytest.fixture
def build_reranking_search(imported, tmp_path):
    """Function that builds a search with a local reranker, which counts shared words."""

    def build(**settings):
        folder = write_cross_encoder(tmp_path / "tiny", ["vpn", "WireGuard", "gateway"])
        defaults = {"rerank_provider": "fastembed", "rerank_path": folder, "rerank_budget_s": 60}
        services = imported(**(defaults | settings))
        return services.search

    return build


def test_a_configured_reranker_sorts_the_results_of_every_mode(build_reranking_search):
    search = build_reranking_search()
    question = "annual leave, WireGuard gateway"
    for mode in (SearchMode.SIMILARITY, SearchMode.ENSEMBLE, SearchMode.CONVEX):
        plain = search.search(LOCAL_USER, question, mode=mode, k=9, rerank=False)
        before = [passage.metadata["key"] for passage in plain].index("vpn.md") + 1
        best = search.search(LOCAL_USER, question, mode=mode, k=1)[0]
        assert best.metadata["key"] == "vpn.md"
        assert best.metadata["rerank"] == {"score": 2.0, "rank": 1, "rank_before": before}


def test_results_without_a_reranker_do_not_mention_it(build_reranking_search):
    results = build_reranking_search().search(LOCAL_USER, QUESTION, rerank=False)
    assert results
    assert all("rerank" not in passage.metadata for passage in results)


def test_a_condition_holds_for_reranked_passages(build_reranking_search):
    results = build_reranking_search().search(
        LOCAL_USER, "WireGuard", condition={"key": "leave.md"}, k=9
    )
    assert {passage.metadata["key"] for passage in results} <= {"leave.md"}


def test_a_hosted_reranker_gets_one_request_for_all_passages(build_reranking_search):
    with reranking() as server:
        search = build_reranking_search(
            rerank_provider="http", rerank_url=server.url, rerank_model="rank-3"
        )
        best = search.search(LOCAL_USER, "choose WireGuard", mode=SearchMode.SIMILARITY)[0]
        assert best.metadata["rerank"]["score"] == pytest.approx(0.2)
        assert len(server.bodies) == 1


def test_a_failing_reranker_leaves_the_order_and_a_reason(build_reranking_search):
    search = build_reranking_search(rerank_path="/nowhere")
    plain = search.search(LOCAL_USER, QUESTION, rerank=False)
    results = search.search(LOCAL_USER, QUESTION, rerank=True)
    assert [passage.id for passage in results] == [passage.id for passage in plain]
    assert all("/nowhere" in passage.metadata["rerank"]["skipped"] for passage in results)


def test_reranking_without_a_reranker_names_the_setting(search):
    with pytest.raises(ConflictError, match="FOOTNOTE_RERANK_PROVIDER"):
        search.search(LOCAL_USER, QUESTION, rerank=True)
    assert search.search(LOCAL_USER, QUESTION, rerank=False)


def test_a_hosted_reranker_without_a_url_names_the_setting(build_services):
    with pytest.raises(ConfigError, match="FOOTNOTE_RERANK_URL"):
        build_services(rerank_provider="http", rerank_model="rank-3").search.search(LOCAL_USER, "x")


def test_a_file_of_a_conversation_is_found_only_there(imported):
    services = imported()
    mine, other = (services.conversations.begin(LOCAL_USER, one).id for one in "ab")
    file = ("lunch.md", b"# Lunch\n\nLunch is at noon in the Bristol canteen.")
    box = services.uploads.add(LOCAL_USER, [file], conversation_id=mine).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id, lambda _: None)

    def keys(conversation_id, **options):
        retriever = services.search.retriever(
            LOCAL_USER, conversation_id=conversation_id, **options
        )
        return {passage.metadata["key"] for passage in retriever.invoke("Lunch in the canteen?")}

    assert "lunch.md" in keys(mine)
    for elsewhere in (other, ""):
        assert "lunch.md" not in keys(elsewhere)
        assert keys(elsewhere, condition={"source_id": box}) == set()
    results = services.search.search(LOCAL_USER, "Lunch in the canteen?", k=50)
    assert "lunch.md" not in {passage.metadata["key"] for passage in results}
    turn = services.chat.ask(LOCAL_USER, "Lunch in the canteen?", mine)
    assert "noon" in turn.answer
    assert "noon" not in services.chat.ask(LOCAL_USER, "Lunch in the canteen?", other).answer


def test_a_file_uploaded_elsewhere_while_condensing_is_not_found(imported):
    services = imported()
    mine, other = (services.conversations.begin(LOCAL_USER, one).id for one in "ab")
    retriever = services.search.retriever(LOCAL_USER, conversation_id=mine)
    file = ("lunch.md", b"# Lunch\n\nLunch is at noon in the Bristol canteen.")
    box = services.uploads.add(LOCAL_USER, [file], conversation_id=other).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id, lambda _: None)
    results = retriever.invoke("Lunch in the canteen?")
    assert "lunch.md" not in {passage.metadata["key"] for passage in results}


def test_sources_of_the_conversation_of_another_user_are_unknown_and_not_named(build_services):
    services = build_services(embed=True)
    conversation_id = services.conversations.begin(LOCAL_USER, "Salaries").id
    box = services.uploads.add(
        LOCAL_USER, [("a.md", b"# A")], conversation_id=conversation_id
    ).source_id
    assert services.search.condition(LOCAL_USER, Scope(sources=[box]))
    for check in (services.search.condition, services.choices.check):
        with pytest.raises(ConflictError, match="There is no source") as raised:
            check(Principal("bert"), Scope(sources=[box]))
        assert "Salaries" not in str(raised.value)


def test_words_of_another_conversation_are_not_used_for_corrections(build_services):
    services = build_services()
    mine = services.conversations.begin(LOCAL_USER, "mine").id
    file = ("plan.md", b"# Plan\n\nThe budget is for headphones.")
    box = services.uploads.add(LOCAL_USER, [file], conversation_id=mine).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id, lambda _: None)
    search = services.search
    assert search.respell(LOCAL_USER, "headfones") == "headfones"
    assert search.respell(LOCAL_USER, "headfones", None, mine) == "headphones"


def test_without_imports_nothing_is_corrected(build_services):
    assert build_services().search.respell(LOCAL_USER, "headfones") == "headfones"


def test_places_of_a_catalog_are_found_only_if_it_is_in_the_scope(imported, restaurants):
    services = imported(restaurants=restaurants)
    [catalog] = services.catalog.catalogs(LOCAL_USER)

    def sources_of(condition):
        found = services.search.search(LOCAL_USER, "Italian pasta", condition=condition, k=20)
        return {one.metadata["source_id"] for one in found}

    assert catalog.id not in sources_of(None)
    scope = services.search.condition(LOCAL_USER, Scope(sources=("Restaurants",)))
    assert sources_of(scope) == {catalog.id}
