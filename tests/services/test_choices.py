from domain import LOCAL_USER, SearchMode


def imported(services, files, **place):
    given = services.uploads.add(LOCAL_USER, files, **place)
    source = next(one for one in services.uploads.boxes(LOCAL_USER) if one.id == given.source_id)
    services.imports.run(LOCAL_USER, source, services.uploads.loader(source))
    return source


def test_an_empty_library_has_nothing_to_choose_but_how_to_search(build_services):
    choices = build_services(search_mode="bm25", top_k=7).choices.choices(LOCAL_USER)
    assert not choices.sources
    assert (choices.collections, choices.formats, choices.labels) == ((), (), ())
    assert choices.settings.mode is SearchMode.BM25
    assert choices.settings.k == 7
    assert choices.settings.score_threshold == 0.3


def test_what_the_library_holds_can_be_chosen(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(
        LOCAL_USER, handbook, collection="HR", labels=["2026", "policy"]
    )
    box = imported(services, [("a.txt", b"Contract of sale.")], box="Contracts")
    choices = services.choices.choices(LOCAL_USER)
    assert sorted(choices.sources.values()) == ["Contracts", "handbook"]
    assert choices.sources[box.id] == "Contracts"
    assert choices.collections == ("Contracts", "HR")
    assert choices.formats == ("md", "txt")
    assert choices.labels == ("2026", "policy")


def test_the_files_of_a_conversation_are_a_choice_in_it_alone(build_services):
    services = build_services(embed=True)
    talk = services.uploads.begin_conversation(LOCAL_USER, "Mine")
    box = imported(services, [("a.md", b"# A\n\nText.")], conversation_id=talk)
    inside = services.choices.choices(LOCAL_USER, talk)
    assert inside.own == box.id
    assert inside.formats == ("md",)
    for other in (None, services.uploads.begin_conversation(LOCAL_USER, "Other")):
        outside = services.choices.choices(LOCAL_USER, other)
        assert not outside.sources
        assert not outside.formats
        assert outside.own == ""
