from dataclasses import replace
from types import SimpleNamespace

from domain import LOCAL_USER, SearchChoice, SearchMode
from services.access import Readable
from services.search.search_scope import CACHE_S, ChoiceService
from storage.ledger.source_store import new_source


def import_box(services, files, **place):
    result = services.uploads.add(LOCAL_USER, files, **place)
    source = next(one for one in services.uploads.boxes(LOCAL_USER) if one.id == result.source_id)
    services.imports.run(LOCAL_USER, source, services.uploads.loader(source))
    return source


def test_an_empty_library_offers_only_the_default_search(build_services):
    choices = build_services(search_mode="bm25", top_k=7).choices.choices(LOCAL_USER)
    assert not choices.sources
    assert (choices.collections, choices.formats, choices.labels) == ((), (), ())
    assert choices.settings.mode is SearchMode.BM25
    assert choices.settings.k == 7
    assert choices.settings.score_threshold == 0.3


def test_sources_collections_formats_and_labels_of_the_library_are_choices(
    build_services, handbook
):
    services = build_services(embed=True)
    services.directories.import_directory(
        LOCAL_USER, handbook, collection="HR", labels=["2026", "policy"]
    )
    box = import_box(services, [("a.txt", b"Contract of sale.")], box="Contracts")
    choices = services.choices.choices(LOCAL_USER)
    assert sorted(choices.sources.values()) == ["Contracts", "handbook"]
    assert choices.sources[box.id] == "Contracts"
    assert choices.collections == ("Contracts", "HR")
    assert choices.formats == ("md", "txt")
    assert choices.labels == ("2026", "policy")


def test_files_of_a_conversation_are_a_choice_only_there(build_services):
    services = build_services(embed=True)
    conversation_id = services.conversations.begin(LOCAL_USER, "Mine").id
    box = import_box(services, [("a.md", b"# A\n\nText.")], conversation_id=conversation_id)
    inside = services.choices.choices(LOCAL_USER, conversation_id)
    assert inside.own == box.id
    assert inside.formats == ("md",)
    for other in (None, services.conversations.begin(LOCAL_USER, "Other").id):
        outside = services.choices.choices(LOCAL_USER, other)
        assert not outside.sources
        assert not outside.formats
        assert outside.own == ""


def test_choices_are_cached_for_a_limited_time():
    reads, clock = [], [0.0]
    tally = SimpleNamespace(source_id="s1", format="md")
    documents = SimpleNamespace(
        tallies=lambda _denied: reads.append("read") or [tally],
        labels_by_source=lambda _denied: {"s1": {"hr"}},
    )
    source = new_source("directory", "/docs", name="Docs")
    source = replace(source, id="s1")
    access = SimpleNamespace(
        readable=lambda _principal: Readable({"s1": source}), readers=lambda _principal: None
    )
    service = ChoiceService(documents, access, SearchChoice(), lambda: clock[0])
    for moment, read in ((0, 1), (CACHE_S, 1), (CACHE_S + 1, 2)):
        clock[0] = moment
        assert service.choices(LOCAL_USER).labels == ("hr",)
        assert len(reads) == read


def test_a_catalog_is_a_choice_without_its_format(imported, restaurants):
    services = imported(restaurants=restaurants)
    [catalog] = services.catalog.catalogs(LOCAL_USER)
    choices = services.choices.choices(LOCAL_USER)
    assert choices.sources[catalog.id] == "Restaurants"
    assert choices.catalogs == (catalog.id,)
    assert "Restaurants" in choices.collections
    assert choices.formats == ("md",)
