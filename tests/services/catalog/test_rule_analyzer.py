"""Rules turn questions in three languages into filters and weights."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.places import CatalogDescription, CatalogFilters
from loaders.catalog.catalog_description import description_of, read_description
from services.catalog.rule_analyzer import RuleAnalyzer
from tests.fakes.command_line import ROOT
from tests.services.catalog import sample_questions
from tests.services.catalog.line_counter import lines_run
from tests.services.catalog.questions import ENGLISH, JAPANESE, KOREAN, cases
from tests.services.catalog.restaurants import PHONES, RESTAURANTS

RULES = RuleAnalyzer(RESTAURANTS)
PHONE_RULES = RuleAnalyzer(
    PHONES, {"colour": ["red", "dark blue", "No"], "size": ["5", "6"]}, ["folding_phone", "Tablet"]
)

SAMPLE = ROOT / "samples" / "catalogs" / "restaurants" / "catalog.yaml"
SAMPLE_RULES = RuleAnalyzer(description_of(read_description(SAMPLE)))
SAMPLE_QUESTIONS = [
    getattr(sample_questions, name) for name in dir(sample_questions) if name.isupper()
]


def mentioned_weights(query):
    return {name: weight for name, weight in query.aspect_weights.items() if weight is not None}


def test_the_worked_example_of_the_specification():
    query = RULES.analyze("가격 비싸도 괜찮으니 분위기 좋은 이탈리안")
    assert query.filters == CatalogFilters({}, ("italian_restaurant",), None)
    assert query.aspect_weights == {
        "food": None,
        "service": None,
        "ambience": 0.9,
        "price": 0.1,
        "hygiene": None,
        "waiting": None,
        "accessibility": None,
    }
    assert query.query_en == "italian restaurant with a good ambience"
    assert (query.analysed_by, query.notice) == ("", "")


@pytest.mark.parametrize(
    ("question", "borough", "types", "rating", "weights"),
    [*cases(KOREAN), *cases(ENGLISH), *cases(JAPANESE)],
)
def test_questions_become_filters_and_weights(question, borough, types, rating, weights):
    query = RULES.analyze(question)
    assert query.filters.fields == ({"borough_en": borough} if borough else {})
    assert query.filters.desired_types == types
    assert query.filters.min_rating == rating
    assert mentioned_weights(query) == weights


@pytest.mark.parametrize(
    ("question", "borough", "types", "rating", "weights"),
    [case for table in SAMPLE_QUESTIONS for case in cases(table)],
)
def test_ambiguous_questions_become_filters_and_weights(question, borough, types, rating, weights):
    query = SAMPLE_RULES.analyze(question)
    assert query.filters.fields == ({"borough_en": borough} if borough else {})
    assert query.filters.desired_types == types
    assert query.filters.min_rating == rating
    assert mentioned_weights(query) == weights


SUSHI, RAMEN, CAFE, BAR = "sushi_restaurant", "ramen_restaurant", "cafe", "bar"


@pytest.mark.parametrize(
    ("question", "desired", "declined"),
    [
        ("anything but sushi, rated 4 or higher", None, (SUSHI,)),
        ("not sushi", None, (SUSHI,)),
        ("no sushi or ramen please", None, (SUSHI, RAMEN)),
        ("ramen, not sushi", (RAMEN,), (SUSHI,)),
        ("sushi? no, not sushi", None, (SUSHI,)),
        ("not a sushi bar", None, (SUSHI,)),
        ("a bar, but not a sushi bar", (BAR,), (SUSHI,)),
        ("anything but a sushi bar or a ramen place", None, (SUSHI, RAMEN)),
        ("no sushi bars", None, (SUSHI,)),
        ("not any sushi", None, (SUSHI,)),
        ("not a bar or a cafe", None, (BAR, CAFE)),
        ("neither a bar nor a cafe", None, (BAR, CAFE)),
        ("anywhere but a cafe", None, (CAFE,)),
        ("any place but sushi", None, (SUSHI,)),
        ("all but sushi", None, (SUSHI,)),
        ("nothing with sushi", None, (SUSHI,)),
        ("none of those sushi places", None, (SUSHI,)),
        ("초밥만 빼고 아무거나", None, (SUSHI,)),
        ("스시집은 말고", None, (SUSHI,)),
        ("스시바 말고", None, (SUSHI,)),
        ("스시집 같은 데 말고 라멘", (RAMEN,), (SUSHI,)),
        ("초밥은 됐고 라멘", (RAMEN,), (SUSHI,)),
        ("초밥 없는 곳", None, (SUSHI,)),
        ("초밥 없이 간단하게", None, (SUSHI,)),
        ("라멘은 절대 안 돼", None, (RAMEN,)),
        ("스시 말고 라멘", (RAMEN,), (SUSHI,)),
        ("스시나 라멘 말고 다른 거", None, (SUSHI, RAMEN)),
        ("스시 별로 안 좋아해", None, (SUSHI,)),
        ("寿司以外で何か美味しいもの食べたい", None, (SUSHI,)),
        ("寿司じゃなくて、ラーメン", (RAMEN,), (SUSHI,)),
        ("寿司やラーメン以外", None, (SUSHI, RAMEN)),
        ("寿司バー以外", None, (SUSHI,)),
        ("寿司屋さんじゃなくて", None, (SUSHI,)),
        ("寿司みたいなのは嫌", None, (SUSHI,)),
        ("寿司のような店以外", None, (SUSHI,)),
        ("寿司でなければ何でも", None, (SUSHI,)),
        ("寿司は結構です", None, (SUSHI,)),
        ("寿司は食べられない", None, (SUSHI,)),
    ],
)
def test_a_negated_type_is_declined(question, desired, declined):
    filters = SAMPLE_RULES.analyze(question).filters
    assert (filters.desired_types, filters.declined_types) == (desired, declined)


@pytest.mark.parametrize(
    ("question", "desired"),
    [
        ("it doesn't have to be sushi", None),
        ("It does not have to be sushi or ramen", None),
        ("it doesn't have to be a sushi bar", None),
        ("I can't get enough of sushi", (SUSHI,)),
        ("why not sushi", (SUSHI,)),
        ("there is nothing like sushi", (SUSHI,)),
        ("nothing but sushi", (SUSHI,)),
        ("스시 같은 거 아니어도 돼", None),
        ("초밥이면 됐어요", (SUSHI,)),
        ("寿司屋さんじゃなくてもいい", None),
        ("寿司みたいな店じゃなくてもいい", None),
        ("寿司は結構好き", (SUSHI,)),
        ("寿司食べない?", (SUSHI,)),
        ("寿司は食べませんか", (SUSHI,)),
        ("sushi, but not in Queens", (SUSHI,)),
        ("스시 아니어도 괜찮아요", None),
        ("스시나 라멘 아니어도 돼", None),
        ("우리 동네엔 스시집이 없는데 추천해줘", (SUSHI,)),
        ("스시집 없는 동네라서 스시집 찾아요", (SUSHI,)),
        ("스시 없이 못 살아요", (SUSHI,)),
        ("초밥 없이는 못 사는 친구랑 갈 곳", (SUSHI,)),
        ("스시 말고도 괜찮은 데", None),
        ("스시 별로 안 비싼 곳", (SUSHI,)),
        ("寿司じゃなくてもいい", None),
        ("寿司屋でなくても", None),
        ("寿司以外でもいい", None),
    ],
)
def test_an_optional_type_is_not_declined(question, desired):
    filters = SAMPLE_RULES.analyze(question).filters
    assert (filters.desired_types, filters.declined_types) == (desired, ())


@given(st.sampled_from([case for table in SAMPLE_QUESTIONS for case in cases(table)]))
def test_no_type_is_both_desired_and_declined(case):
    filters = SAMPLE_RULES.analyze(case[0]).filters
    assert not set(filters.desired_types or ()) & set(filters.declined_types)


def test_missing_spaces_change_nothing():
    question = "브루클린 분위기 좋은 이탈리안 가격 상관없어요"
    with_spaces, without_spaces = RULES.analyze(question), RULES.analyze(question.replace(" ", ""))
    assert with_spaces.filters == without_spaces.filters
    assert with_spaces.aspect_weights == without_spaces.aspect_weights


@pytest.mark.parametrize(
    ("question", "rating"),
    [
        ("rated above 8.5", 8.5),
        ("at least 4 stars", 4),
        ("평점 11점 이상", None),
        ("스코어 10 이상", 10),
        ("評価7以上", 7),
        ("4.5.6 stars", None),
        ("under 4 stars", None),
        ("4점 이하", None),
        ("10점 만점에 8점 이상", 8),
        ("8 out of 10 stars", 8),
        ("99999999 stars", None),
        ("", None),
    ],
)
def test_a_rating_is_on_the_scale_of_the_catalog(question, rating):
    assert PHONE_RULES.analyze(question).filters.min_rating == rating


def test_values_of_the_data_are_recognized():
    query = PHONE_RULES.analyze("a Dark-Blue folding phone or tablet, no 5")
    assert query.filters.fields == {"colour": "dark blue"}
    assert query.filters.desired_types == ("folding_phone", "Tablet")


def test_custom_aspects_are_recognized_by_their_words():
    assert mentioned_weights(PHONE_RULES.analyze("good battery and clean")) == {"battery": 0.9}
    assert mentioned_weights(PHONE_RULES.analyze("비싸도 괜찮으니 배터리 좋은 거")) == {
        "battery": 0.9,
        "price": 0.1,
    }


@pytest.mark.parametrize(
    "question",
    [
        "Italian in Brooklyn or Queens",
        "Italian in Brooklyn and Queens",
        "Italian, Brooklyn/Queens, not in Manhattan",
        "Italian in Brooklyn or Queens, or in Brooklyn",
        "브루클린이나 퀸즈 이탈리안",
        "브루클린과 퀸즈 이탈리안, 맨해튼 말고",
        "ブルックリンかクイーンズのイタリアン",
        "ブルックリンとクイーンズのイタリアン、マンハッタン以外",
    ],
)
def test_several_values_of_one_field_are_alternatives(question):
    assert RULES.analyze(question).filters.fields == {"borough_en": ("Brooklyn", "Queens")}


def test_a_negated_value_is_not_an_alternative():
    assert RULES.analyze("Brooklyn, not Queens").filters.fields == {"borough_en": "Brooklyn"}
    assert RULES.analyze("not Brooklyn or Queens").filters.fields == {}


@pytest.mark.parametrize(
    "question", ["not a bar in Queens", "퀸즈 바 말고 카페", "クイーンズのバー以外"]
)
def test_negating_a_type_does_not_negate_a_field(question):
    filters = RULES.analyze(question).filters
    assert (filters.fields, filters.declined_types) == ({"borough_en": "Queens"}, (BAR,))


@pytest.mark.parametrize(
    ("question", "query_en"),
    [
        ("  Quiet\nsushi  in Queens ", "Quiet sushi in Queens"),
        ("브루클린 분위기 좋은 이탈리안", "italian restaurant with a good ambience in Brooklyn"),
        ("並ばない店", "place with no waiting"),
        ("비싸도 상관없어", "비싸도 상관없어"),
        ("초밥 말고", "place"),
        ("4점 이상", "place"),
        ("評価4以上のところ", "place"),
        ("별점 4 이상 브루클린", "place in Brooklyn"),
        ("寿司以外、クイーンズ", "place in Queens"),
        ("ブルックリンかクイーンズ", "place in Brooklyn or Queens"),
        ("퀸즈 피자나 버거", "pizza restaurant or hamburger restaurant in Queens"),
        ("어디가 제일\n나아?", "어디가 제일 나아?"),
        ("", ""),
    ],
)
def test_the_english_query_describes_the_analysis(question, query_en):
    assert RULES.analyze(question).query_en == query_en


def test_a_catalog_without_types_filters_and_aspects_is_supported():
    description = CatalogDescription(name="x", places="x.csv", id="id", title="name", aspects=())
    query = RuleAnalyzer(description).analyze("맛있는 곳")
    assert (query.filters, query.aspect_weights) == (CatalogFilters(), {})


FRAGMENTS = st.sampled_from(
    [
        *(
            "Brooklyn",
            "말고",
            "not ",
            "이탈리안",
            "イタリアン",
            "以外",
            "가격",
            "비싸도 괜찮",
            "できれば",
        ),
        *(
            "if possible",
            "4.5점 이상",
            "rated above ",
            "9",
            "星",
            ".",
            ", ",
            "\n\n",
            "괜찮",
            "price",
        ),
        *("don't care about ", "웨이팅", " 없", "ﾊﾞ", "\u1112\u1161\u11ab", "٤"),
    ]
)


@given(st.text(max_size=120) | st.lists(FRAGMENTS, max_size=30).map("".join))
def test_every_question_can_be_analyzed(question):
    for analyzer in (RULES, PHONE_RULES):
        query = analyzer.analyze(question)
        assert query.question == question
        assert all(w is None or 0 <= w <= 1 for w in query.aspect_weights.values())
        assert "\n" not in query.query_en
        assert bool(query.query_en) == bool(question.split())


@given(st.sampled_from([*cases(KOREAN), *cases(JAPANESE)]))
def test_unicode_normalization_does_not_change_the_analysis(case):
    question = unicodedata.normalize("NFD", case[0])
    assert RULES.analyze(question).filters.desired_types == case[2]
    assert mentioned_weights(RULES.analyze(question)) == case[4]


@pytest.mark.parametrize(
    "piece",
    ["이탈리안 말고 ", "not italian or ", "비싸도 괜찮 ", "4.5 ", "if possible cheap ", "별점 "],
)
def test_the_cost_is_linear_in_the_length_of_the_question(piece):
    work = [lines_run(lambda size=size: RULES.analyze(piece * size)) for size in (10, 50, 200)]
    assert work[2] < 8 * work[1]
