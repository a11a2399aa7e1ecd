"""Questions about a small catalog, answered with real services."""

import json
from dataclasses import replace

import pytest

from domain import LOCAL_USER, CatalogFilters, CatalogQuery, CitationState, Principal
from domain.errors import ConflictError, InputError, ModelError, NotFoundError
from services.catalog.catalog_question import (
    BY_WORDS,
    NO_WORD,
    AnswerCompleted,
    AnswerText,
    PlacesRanked,
    QuestionAnalyzed,
)
from tests.fakes.openai import Call, Fault, Text, ToolCalls
from tests.fakes.restaurants import PLACES, import_restaurants

QUESTION = "가격 비싸도 괜찮으니 분위기 좋은 이탈리안"
ANALYSIS = {
    "query_en": "italian restaurant with a good ambience",
    "filters": {"borough_en": None, "desired_types": ["italian_restaurant"], "min_rating": None},
    "aspect_weights": {
        **dict.fromkeys(("food", "service", "hygiene", "waiting", "accessibility")),
        "ambience": 0.9,
        "price": 0.1,
    },
}


@pytest.fixture
def services(imported_restaurants):
    return imported_restaurants()


@pytest.fixture
def search(services):
    def ask(question=QUESTION, **options):
        return services.catalog.search(LOCAL_USER, question, **options)

    return ask


def answer_of(events):
    *_, last = events
    assert isinstance(last, AnswerCompleted)
    return last.answer


def quotes_of(hit):
    return [quote for pattern in hit.patterns for quote in pattern.quotes]


def translate_into_japanese(body):
    """Translate every quote into the same Japanese praise."""
    texts = json.loads(body["messages"][1]["content"])
    return Text(json.dumps(dict.fromkeys(texts, "いいですね"), ensure_ascii=False))


def test_events_come_in_order(search):
    kinds = [type(event) for event in search()]
    assert kinds[:3] == [QuestionAnalyzed, PlacesRanked, AnswerText]
    assert kinds[-1] is AnswerCompleted
    assert set(kinds[2:-1]) == {AnswerText}


def test_the_first_example_of_the_specification_is_analyzed_exactly(search):
    analysis = next(search())
    assert analysis.query.filters.desired_types == ("italian_restaurant",)
    weights = {name: w for name, w in analysis.query.aspect_weights.items() if w is not None}
    assert weights == {"ambience": 0.9, "price": 0.1}


def test_the_second_example_of_the_specification_is_merged_exactly(search, services):
    stored = {"food": 3.0, "price": 5.0, "service": 2.0}
    services.people.patch(LOCAL_USER, "minji", preferences=stored)
    weights = next(search(user_id="minji")).weights
    assert weights == {
        "food": 0.6,
        "service": 0.4,
        "ambience": 0.9,
        "price": 0.1,
        "hygiene": 0.5,
        "waiting": 0.5,
        "accessibility": 0.5,
    }


def test_preferences_of_the_request_override_stored_ones(search, services):
    services.people.patch(LOCAL_USER, "minji", preferences={"food": 1.0, "service": 2.0})
    weights = next(search(user_id="minji", preferences={"food": 5.0})).weights
    assert (weights["food"], weights["service"]) == (1.0, 0.4)


def test_a_place_that_matches_type_and_praise_comes_first(search):
    answer = answer_of(search())
    assert answer.places[0].place.title == "Trattoria Lucia"
    best = answer.places[0]
    assert best.score == pytest.approx(sum(part.share for part in best.parts))
    assert {part.name for part in best.parts} >= {"hybrid", "confidence", "type"}


def test_a_missing_cross_encoder_is_a_notice(search):
    (notice,) = answer_of(search()).notices
    assert "FOOTNOTE_RERANK_PROVIDER" in notice


def test_a_question_without_known_terms_is_a_notice(search):
    assert BY_WORDS in answer_of(search("pasta")).notices
    assert BY_WORDS in answer_of(search("珍しい店")).notices
    assert BY_WORDS not in answer_of(search("price")).notices


def test_a_question_that_the_embedding_cannot_read_is_a_notice(imported_restaurants):
    services = imported_restaurants(embedding_model="all-MiniLM-L6-v2")
    answer = answer_of(services.catalog.search(LOCAL_USER, "珍しい店"))
    assert NO_WORD in answer.notices
    assert BY_WORDS not in answer.notices


def test_places_have_tags_and_patterns_of_each_group(search):
    hit = answer_of(search()).places[0]
    assert {(pattern.aspect, pattern.group, pattern.praises) for pattern in hit.patterns} >= {
        ("ambience", "local", True),
        ("ambience", "korean", True),
    }
    assert "ambience" in hit.tags


def test_every_citation_of_the_answer_is_verified(search, services):
    answer = answer_of(search())
    assert answer.citations
    for citation in answer.citations:
        text = services.library.documents.text(citation.document_id)
        assert citation.state is CitationState.VERIFIED
        assert text[citation.start : citation.end] == citation.quote


def test_the_passages_of_places_have_their_format(search):
    assert {source.format for source in answer_of(search()).sources} == {"place"}


def test_the_streamed_text_is_the_answer(search):
    events = list(search())
    streamed = "".join(event.text for event in events if isinstance(event, AnswerText))
    assert streamed.strip() == answer_of(events).answer.strip()


@pytest.mark.parametrize(
    ("question", "language"),
    [(QUESTION, "ko"), ("雰囲気の良いイタリアン", "ja"), ("a romantic trattoria", "en")],
)
def test_the_answer_is_in_the_language_of_the_question(search, question, language):
    assert answer_of(search(question)).language == language


def test_the_language_of_the_person_overrides_that_of_the_question(search, services):
    services.people.patch(LOCAL_USER, "minji", language="ja")
    assert answer_of(search(user_id="minji")).language == "ja"
    assert answer_of(search(user_id="minji", language="en")).language == "en"


def test_filters_of_the_question_leave_only_matching_places(search):
    places = answer_of(search("ramen in Brooklyn rated 4 or better")).places
    assert {hit.place.fields["borough_en"] for hit in places} == {"Brooklyn"}
    assert all(hit.place.rating >= 4 for hit in places)


@pytest.mark.parametrize("question", ["rated 4 or better", "별 네 개 이상", "星四つ以上のところ"])
def test_a_rating_alone_is_understood_in_every_language(search, question):
    hits = answer_of(search(question)).places
    assert {hit.place.place_id for hit in hits} == {"lucia", "taro"}


def test_without_matching_places_the_answer_has_no_citations(search):
    answer = answer_of(search("Italian in the Bronx, at least 4.5 stars"))
    assert answer.places == ()
    assert answer.answer
    assert answer.citations == ()


def test_an_analysis_in_the_request_is_searched_unchanged(search):
    query = next(search("ramen in Brooklyn")).query
    edited = replace(query, filters=CatalogFilters())
    first, *rest = search("ramen in Brooklyn", analysis=edited)
    assert first.query == edited
    assert {hit.place.place_id for hit in answer_of(rest).places} > {"lucia", "taro"}


def test_a_filter_removed_from_the_analysis_is_removed_from_the_english_query(search):
    original = next(search("브루클린의 분위기 좋은 이탈리안")).query
    assert "Brooklyn" in original.query_en
    edited = replace(original, filters=replace(original.filters, fields={}))
    query = next(search(original.question, analysis=edited)).query
    assert query.query_en == original.query_en.replace(" in Brooklyn", "")


def test_the_answer_has_timings_of_each_step(search):
    timings = answer_of(search()).timings_ms
    assert list(timings) == ["understood", "ranked", "first_token", "total"]
    assert (
        0
        <= timings["understood"]
        <= timings["ranked"]
        <= timings["first_token"]
        <= timings["total"]
    )


@pytest.mark.parametrize(
    ("options", "error", "culprit"),
    [
        ({"question": " "}, InputError, "question"),
        ({"preferences": {"spice": 3}}, InputError, "spice"),
        ({"preferences": {"food": 7}}, InputError, "food"),
        ({"preferences": {"food": float("nan")}}, InputError, "food"),
        ({"user_id": "nobody"}, NotFoundError, "nobody"),
        ({"catalog": "homes"}, ConflictError, "homes"),
        ({"language": "fr"}, InputError, "language"),
    ],
)
def test_invalid_arguments_are_rejected_immediately(search, options, error, culprit):
    with pytest.raises(error, match=culprit):
        search(**options)


def test_without_a_catalog_the_error_explains_how_to_add_one(build_services):
    with pytest.raises(ConflictError, match="catalog add"):
        build_services().catalog.search(LOCAL_USER, QUESTION)


def test_with_several_catalogs_the_request_must_name_one(services, search, tmp_path):
    import_restaurants(services, tmp_path / "more", PLACES[:1], catalog="Bistros")
    with pytest.raises(ConflictError, match="Bistros, Restaurants"):
        search()
    assert [hit.place.place_id for hit in answer_of(search(catalog="Bistros")).places] == ["lucia"]


def test_a_catalog_lists_its_filters_types_groups_and_aspects(services):
    [summary] = services.catalog.catalogs(LOCAL_USER)
    assert (summary.name, summary.places) == ("Restaurants", 4)
    assert summary.filters == {"borough_en": ["Bronx", "Brooklyn", "Queens"]}
    assert summary.types == ["american_restaurant", "italian_restaurant", "ramen_restaurant"]
    assert list(summary.groups) == ["korean", "local"]
    assert "ambience" in summary.aspects


def test_new_filter_values_are_understood_after_an_import(services, search, restaurants):
    assert next(search("a diner in Yonkers")).query.filters.fields == {}
    moved_place = {**PLACES[3], "borough": "Yonkers"}
    import_restaurants(services, restaurants, [*PLACES[:3], moved_place])
    assert next(search("a diner in Yonkers")).query.filters.fields == {"borough_en": "Yonkers"}


def test_shared_catalogs_are_visible_to_every_user(services):
    assert services.catalog.catalogs(
        Principal("somebody else")
    )  # shared sources are visible to everyone


def test_places_are_sorted_by_title_and_can_be_filtered(services):
    page = services.catalog.places(LOCAL_USER, fields={"borough_en": "Brooklyn"})
    assert [place.title for place in page.places] == ["Ramen Taro", "Trattoria Lucia"]
    assert page.total == 2
    with pytest.raises(InputError, match="city"):
        services.catalog.places(LOCAL_USER, fields={"city": "Bath"})


def test_a_place_has_its_text_reviews_and_tags(services):
    details = services.catalog.place(LOCAL_USER, "lucia")
    assert details.place.title == "Trattoria Lucia"
    first = details.reviews[0]
    assert details.text[first.start : first.end] == "The ambience is lovely and romantic."
    assert "ambience" in details.tags
    with pytest.raises(NotFoundError, match="nowhere"):
        services.catalog.place(LOCAL_USER, "nowhere")


def test_criticism_below_the_top_patterns_still_removes_a_tag(services, search, tmp_path):
    praise = "The food is delicious. Friendly staff. Lovely ambience. The price is fair."
    blame = "The staff is rude. Ugly decor. Overpriced."
    opinions = [("korean", praise)] * 3 + [("korean", blame)] * 3
    opinions += [("local", blame)] * 3 + [("local", "The food is bland.")] * 2
    opinions += [("local", "Clean tables. No waiting. Easy parking.")] * 3
    reviews = [{"text": text, "group": group, "rating": 4} for group, text in opinions]
    place = {**PLACES[0], "reviews": reviews}
    import_restaurants(services, tmp_path / "one", [place], catalog="One")
    details = services.catalog.place(LOCAL_USER, "lucia", "One")
    judgments = {(pattern.aspect, pattern.praises) for pattern in details.patterns}
    assert len(details.patterns) == 10
    assert ("food", True) in judgments
    assert ("food", False) not in judgments
    assert "food" not in details.tags
    assert answer_of(search("pasta", catalog="One")).places[0].tags == details.tags


class TestWithAChatModel:
    @pytest.fixture
    def services(self, imported_restaurants):
        return imported_restaurants(chat=True)

    def test_the_model_analyzes_the_question_and_writes_the_answer(self, search, model_server):
        model_server.will(
            ToolCalls(Call("catalog_query", ANALYSIS)),
            Text('Trattoria Lucia is lovely [1: "The ambience is lovely and romantic."].'),
        )
        model_server.answer = lambda _: Text("{}")  # translates nothing
        answer = answer_of(search())
        assert answer.query.analysed_by == answer.model == "test-chat"
        assert answer.answer.startswith("Trattoria Lucia is lovely [1]")

    def test_quotes_of_the_places_in_the_answer_are_translated(
        self, services, search, model_server, tmp_path
    ):
        places = [{**PLACES[0], "place_id": f"p{n}"} for n in range(7)]
        import_restaurants(services, tmp_path / "seven", places, catalog="Seven")
        model_server.will(Text("Nothing to say."))
        model_server.answer = translate_into_japanese
        query = CatalogQuery(QUESTION, "italian", aspect_weights={"ambience": 0.9})
        hits = answer_of(search(catalog="Seven", analysis=query, language="ja")).places
        has_translation = [[bool(quote.translation) for quote in quotes_of(hit)] for hit in hits]
        assert [all(flags) for flags in has_translation] == [True] * 5 + [False] * 2
        assert [any(flags) for flags in has_translation] == [True] * 5 + [False] * 2

    def test_a_failed_translation_is_a_notice(self, search, model_server):
        query = CatalogQuery(QUESTION, "italian", aspect_weights={"ambience": 0.9})
        model_server.will(Text("Nothing to say."))
        model_server.answer = lambda _: Fault(500)
        notice = answer_of(search(analysis=query)).notices[-1]
        assert notice.startswith("Not all quotes could be translated. 127.0.0.1")

    def test_closing_the_events_closes_the_model_stream(self, search, model_server):
        model_server.will(
            ToolCalls(Call("catalog_query", ANALYSIS)), Text(*["word "] * 400, pause_s=0.01)
        )
        events = search()
        while not isinstance(next(events), AnswerText):
            pass
        events.close()
        assert model_server.hung_up.wait(5)

    def test_a_model_that_fails_to_answer_raises_after_the_places(self, search, model_server):
        model_server.will(ToolCalls(Call("catalog_query", ANALYSIS)), Fault(500))
        events = search()
        assert isinstance(next(events), QuestionAnalyzed)
        assert isinstance(next(events), PlacesRanked)
        with pytest.raises(ModelError):
            next(events)

    def test_with_an_analysis_in_the_request_the_model_only_answers(self, search, model_server):
        query = CatalogQuery(QUESTION, "italian", aspect_weights={"ambience": 0.9})
        model_server.will(Text("Nothing to say."))
        model_server.answer = lambda _: Text("{}")
        assert answer_of(search(analysis=query)).answer == "Nothing to say."


@pytest.mark.parametrize(
    ("question", "start", "types", "boroughs"),
    [
        (
            "What is the capital of France?",
            "This question does not seem",
            "- Type: Italian restaurant, ",
            "- Borough: Brooklyn, Queens, Bronx",
        ),
        (
            "연차는 며칠까지 쓸 수 있나요?",
            "‘Restaurants’의 장소",
            "- 종류: 이탈리안, ",
            "- Borough: 브루클린, 퀸스, Bronx",
        ),
        (
            "フランスの首都はどこですか",
            "「Restaurants」のスポット",
            "- 種類：イタリアン、",
            "- Borough：ブルックリン、クイーンズ、Bronx",
        ),
    ],
)
def test_a_question_about_something_else_is_refused_with_what_can_be_asked(
    question, start, types, boroughs, search
):
    answer = answer_of(search(question))
    assert answer.is_refusal
    assert answer.places == answer.citations == ()
    assert answer.answer.startswith(start)
    assert types in answer.answer
    assert boroughs in answer.answer.splitlines()


def test_a_refused_question_is_searched_if_its_analysis_is_given(search):
    refusal = answer_of(search("What is the capital of France?"))
    answer = answer_of(search("What is the capital of France?", analysis=refusal.query))
    assert answer.places
    assert not answer.is_refusal
