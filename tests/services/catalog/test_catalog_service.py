"""Questions about a small catalog, answered over the real parts."""

import json
from dataclasses import replace

import pytest

from domain import LOCAL_USER, CatalogFilters, CatalogQuery, CitationState, Principal
from errors import ConflictError, InputError, ModelError, NotFoundError
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
def services(build_services, tmp_path):
    services = build_services()
    import_restaurants(services, tmp_path / "restaurants")
    return services


@pytest.fixture
def search(services):
    def ask(question=QUESTION, **options):
        return services.catalog.search(LOCAL_USER, question, **options)

    return ask


def answer_of(events):
    *_, last = events
    assert isinstance(last, AnswerCompleted)
    return last.answer


def quotes_of(found):
    return [quote for pattern in found.patterns for quote in pattern.quotes]


def in_japanese(body):
    """A model that calls everything nice in Japanese."""
    texts = json.loads(body["messages"][1]["content"])
    return Text(json.dumps(dict.fromkeys(texts, "いいですね"), ensure_ascii=False))


def test_the_events_come_in_the_order_in_which_things_happen(search):
    kinds = [type(event) for event in search()]
    assert kinds[:3] == [QuestionAnalyzed, PlacesRanked, AnswerText]
    assert kinds[-1] is AnswerCompleted
    assert set(kinds[2:-1]) == {AnswerText}


def test_the_first_example_of_the_specification_is_understood_to_the_digit(search):
    understood = next(search())
    assert understood.query.filters.desired_types == ("italian_restaurant",)
    said = {name: it for name, it in understood.query.aspect_weights.items() if it is not None}
    assert said == {"ambience": 0.9, "price": 0.1}


def test_the_second_example_of_the_specification_is_merged_to_the_digit(search, services):
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


def test_preferences_of_the_request_go_before_those_that_are_kept(search, services):
    services.people.patch(LOCAL_USER, "minji", preferences={"food": 1.0, "service": 2.0})
    weights = next(search(user_id="minji", preferences={"food": 5.0})).weights
    assert (weights["food"], weights["service"]) == (1.0, 0.4)


def test_a_place_of_the_wanted_type_that_is_praised_for_it_comes_first(search):
    answer = answer_of(search())
    assert answer.places[0].place.title == "Trattoria Lucia"
    found = answer.places[0]
    assert found.score == pytest.approx(sum(part.share for part in found.parts))
    assert {part.name for part in found.parts} >= {"hybrid", "confidence", "type"}


def test_without_a_cross_encoder_a_notice_says_so(search):
    (notice,) = answer_of(search()).notices
    assert "FOOTNOTE_RERANK_PROVIDER" in notice


def test_where_nothing_is_understood_a_notice_says_so(search):
    assert BY_WORDS in answer_of(search("qwerty pasta")).notices
    assert BY_WORDS in answer_of(search("珍しい")).notices
    assert BY_WORDS not in answer_of(search("price")).notices


def test_where_the_embedding_does_not_read_the_question_either_a_notice_says_so(
    build_services, tmp_path
):
    services = build_services(embedding_model="all-MiniLM-L6-v2")
    import_restaurants(services, tmp_path / "restaurants")
    answer = answer_of(services.catalog.search(LOCAL_USER, "珍しい"))
    assert NO_WORD in answer.notices
    assert BY_WORDS not in answer.notices


def test_places_have_the_patterns_of_each_group_and_tags(search):
    found = answer_of(search()).places[0]
    assert {(one.aspect, one.group, one.praises) for one in found.patterns} >= {
        ("ambience", "local", True),
        ("ambience", "korean", True),
    }
    assert "ambience" in found.tags


def test_every_citation_of_the_answer_is_checked_against_the_reviews(search, services):
    answer = answer_of(search())
    assert answer.citations
    for citation in answer.citations:
        text = services.library.documents.text(citation.document_id)
        assert citation.state is CitationState.VERIFIED
        assert text[citation.start : citation.end] == citation.quote


def test_the_pieces_written_are_the_answer(search):
    events = list(search())
    written = "".join(event.text for event in events if isinstance(event, AnswerText))
    assert written.strip() == answer_of(events).answer.strip()


@pytest.mark.parametrize(
    ("question", "language"),
    [(QUESTION, "ko"), ("雰囲気の良いイタリアン", "ja"), ("a romantic trattoria", "en")],
)
def test_the_answer_is_in_the_language_of_the_question(search, question, language):
    assert answer_of(search(question)).language == language


def test_the_language_of_the_person_goes_before_that_of_the_question(search, services):
    services.people.patch(LOCAL_USER, "minji", language="ja")
    assert answer_of(search(user_id="minji")).language == "ja"
    assert answer_of(search(user_id="minji", language="en")).language == "en"


def test_filters_that_are_said_leave_only_places_that_fit(search):
    places = answer_of(search("ramen in Brooklyn rated 4 or better")).places
    assert {one.place.fields["borough_en"] for one in places} == {"Brooklyn"}
    assert all(one.place.rating >= 4 for one in places)


@pytest.mark.parametrize("question", ["rated 4 or better", "별 네 개 이상", "星四つ以上のところ"])
def test_a_rating_alone_finds_places_in_any_language(search, question):
    found = answer_of(search(question)).places
    assert {one.place.place_id for one in found} == {"lucia", "taro"}


def test_where_nothing_fits_the_answer_says_so_and_cites_nothing(search):
    answer = answer_of(search("Italian in the Bronx, at least 4.5 stars"))
    assert answer.places == ()
    assert answer.answer
    assert answer.citations == ()


def test_an_analysis_that_is_given_is_searched_for_as_it_is(search):
    understood = next(search("ramen in Brooklyn")).query
    wider = replace(understood, filters=CatalogFilters())
    first, *rest = search("ramen in Brooklyn", analysis=wider)
    assert first.query == wider
    assert {one.place.place_id for one in answer_of(rest).places} > {"lucia", "taro"}


def test_a_filter_that_was_removed_is_in_the_english_wording_no_more(search):
    understood = next(search("브루클린의 분위기 좋은 이탈리안")).query
    assert "Brooklyn" in understood.query_en
    wider = replace(understood, filters=replace(understood.filters, fields={}))
    query = next(search(understood.question, analysis=wider)).query
    assert query.query_en == understood.query_en.replace(" in Brooklyn", "")


def test_it_tells_how_long_each_step_took(search):
    took = answer_of(search()).timings_ms
    assert list(took) == ["understood", "ranked", "first_token", "total"]
    assert 0 <= took["understood"] <= took["ranked"] <= took["first_token"] <= took["total"]


@pytest.mark.parametrize(
    ("options", "error", "named"),
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
def test_what_the_caller_got_wrong_is_said_before_anything_happens(search, options, error, named):
    with pytest.raises(error, match=named):
        search(**options)


def test_without_a_catalog_it_says_how_to_add_one(build_services):
    with pytest.raises(ConflictError, match="catalog add"):
        build_services().catalog.search(LOCAL_USER, QUESTION)


def test_of_several_catalogs_one_is_to_be_named(services, search, tmp_path):
    import_restaurants(services, tmp_path / "more", PLACES[:1], catalog="Bistros")
    with pytest.raises(ConflictError, match="Bistros, Restaurants"):
        search()
    assert [one.place.place_id for one in answer_of(search(catalog="Bistros")).places] == ["lucia"]


def test_a_catalog_tells_what_questions_may_name(services):
    [summary] = services.catalog.catalogs(LOCAL_USER)
    assert (summary.name, summary.places) == ("Restaurants", 4)
    assert summary.filters == {"borough_en": ["Bronx", "Brooklyn", "Queens"]}
    assert summary.types == ["american_restaurant", "italian_restaurant", "ramen_restaurant"]
    assert list(summary.groups) == ["korean", "local"]
    assert "ambience" in summary.aspects


def test_a_value_that_an_import_brings_is_understood_from_then_on(services, search, tmp_path):
    assert next(search("a diner in Yonkers")).query.filters.fields == {}
    moved = {**PLACES[3], "borough": "Yonkers"}
    import_restaurants(services, tmp_path / "restaurants", [*PLACES[:3], moved])
    assert next(search("a diner in Yonkers")).query.filters.fields == {"borough_en": "Yonkers"}


def test_what_others_keep_to_themselves_is_no_catalog_of_mine(services):
    assert services.catalog.catalogs(Principal("somebody else"))  # shared sources are all's


def test_places_are_listed_by_title_and_narrowed(services):
    page = services.catalog.places(LOCAL_USER, fields={"borough_en": "Brooklyn"})
    assert [one.title for one in page.places] == ["Ramen Taro", "Trattoria Lucia"]
    assert page.total == 2
    with pytest.raises(InputError, match="city"):
        services.catalog.places(LOCAL_USER, fields={"city": "Bath"})


def test_a_place_has_its_text_and_what_its_reviews_say(services):
    details = services.catalog.place(LOCAL_USER, "lucia")
    assert details.place.title == "Trattoria Lucia"
    first = details.reviews[0]
    assert details.text[first.start : first.end] == "The ambience is lovely and romantic."
    assert "ambience" in details.tags
    with pytest.raises(NotFoundError, match="nowhere"):
        services.catalog.place(LOCAL_USER, "nowhere")


def test_blame_that_is_too_rare_to_be_shown_still_takes_a_tag_away(services, search, tmp_path):
    praise = "The food is delicious. Friendly staff. Lovely ambience. The price is fair."
    blame = "The staff is rude. Ugly decor. Overpriced."
    told = [("korean", praise)] * 3 + [("korean", blame)] * 3
    told += [("local", blame)] * 3 + [("local", "The food is bland.")] * 2
    told += [("local", "Clean tables. No waiting. Easy parking.")] * 3
    reviews = [{"text": text, "group": group, "rating": 4} for group, text in told]
    place = {**PLACES[0], "reviews": reviews}
    import_restaurants(services, tmp_path / "one", [place], catalog="One")
    details = services.catalog.place(LOCAL_USER, "lucia", "One")
    shown = {(one.aspect, one.praises) for one in details.patterns}
    assert len(details.patterns) == 10
    assert ("food", True) in shown
    assert ("food", False) not in shown
    assert "food" not in details.tags
    assert answer_of(search("pasta", catalog="One")).places[0].tags == details.tags


class TestWithAChatModel:
    @pytest.fixture
    def services(self, build_services, tmp_path):
        services = build_services(chat=True)
        import_restaurants(services, tmp_path / "restaurants")
        return services

    def test_it_reads_the_question_and_writes_the_answer(self, search, model_server):
        model_server.will(
            ToolCalls(Call("catalog_query", ANALYSIS)),
            Text('Trattoria Lucia is lovely [1: "The ambience is lovely and romantic."].'),
        )
        model_server.answer = lambda _: Text("{}")  # translates nothing
        answer = answer_of(search())
        assert answer.query.analysed_by == answer.model == "test-chat"
        assert answer.answer.startswith("Trattoria Lucia is lovely [1]")

    def test_quotes_of_the_places_that_it_speaks_of_are_translated(
        self, services, search, model_server, tmp_path
    ):
        places = [{**PLACES[0], "place_id": f"p{n}"} for n in range(7)]
        import_restaurants(services, tmp_path / "seven", places, catalog="Seven")
        model_server.will(Text("Nothing to say."))
        model_server.answer = in_japanese
        query = CatalogQuery(QUESTION, "italian", aspect_weights={"ambience": 0.9})
        found = answer_of(search(catalog="Seven", analysis=query, language="ja")).places
        translated = [[bool(quote.translation) for quote in quotes_of(one)] for one in found]
        assert [all(of) for of in translated] == [True] * 5 + [False] * 2
        assert [any(of) for of in translated] == [True] * 5 + [False] * 2

    def test_what_a_failed_translation_left_is_told(self, search, model_server):
        query = CatalogQuery(QUESTION, "italian", aspect_weights={"ambience": 0.9})
        model_server.will(Text("Nothing to say."))
        model_server.answer = lambda _: Fault(500)
        notice = answer_of(search(analysis=query)).notices[-1]
        assert notice.startswith("Not all quotes could be translated. 127.0.0.1")

    def test_leaving_closes_what_it_is_writing(self, search, model_server):
        model_server.will(
            ToolCalls(Call("catalog_query", ANALYSIS)), Text(*["word "] * 400, pause_s=0.01)
        )
        events = search()
        while not isinstance(next(events), AnswerText):
            pass
        events.close()
        assert model_server.hung_up.wait(5)

    def test_a_model_that_fails_to_answer_is_an_error_after_the_places(self, search, model_server):
        model_server.will(ToolCalls(Call("catalog_query", ANALYSIS)), Fault(500))
        events = search()
        assert isinstance(next(events), QuestionAnalyzed)
        assert isinstance(next(events), PlacesRanked)
        with pytest.raises(ModelError):
            next(events)

    def test_an_analysis_that_is_given_asks_the_model_for_none(self, search, model_server):
        query = CatalogQuery(QUESTION, "italian", aspect_weights={"ambience": 0.9})
        model_server.will(Text("Nothing to say."))
        model_server.answer = lambda _: Text("{}")
        assert answer_of(search(analysis=query)).answer == "Nothing to say."
