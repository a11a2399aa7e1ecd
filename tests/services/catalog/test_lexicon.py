"""Mentions of aspects in three languages: praise, criticism, or neither."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.places import ASPECTS, Aspect
from services.catalog.lexicon import Lexicon
from tests.services.catalog.line_counter import lines_run

DEFAULT_LEXICON = Lexicon([Aspect(name) for name in ASPECTS])


def judgments(text, lexicon=DEFAULT_LEXICON):
    """The judgment of each aspect; the last mention wins."""
    return {mention.aspect: mention.praises for mention in lexicon.mentions(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The food and service were great", {"food": True, "service": True}),
        ("great food and excellent service", {"food": True, "service": True}),
        ("The food is great and the service is slow", {"food": True, "service": False}),
        ("cheap and clean, but the music was too loud",
         {"price": True, "hygiene": True, "ambience": False}),
        ("We waited over an hour for cold food.", {"waiting": False, "food": False}),
        ("No wait and friendly staff!", {"waiting": True, "service": True}),
        ("wasn't clean at all", {"hygiene": False}),
        ("never had to wait long", {"waiting": True}),
        ("There are no stairs at the entrance", {"accessibility": True}),
        ("The waiter was rude and forgot our order.", {"service": False}),
        ("Deliciously seasoned noodles in a cozier room", {"food": True, "ambience": True}),
        ("Prices are high", {"price": False}),
        ("Prices are reasonable and the tables were sticky", {"price": True, "hygiene": False}),
        ("not too noisy", {"ambience": True}),
        ("good for dates", {"ambience": True}),
        ("a wheelchair fits", {"accessibility": None}),
        ("no line", {"waiting": True}),
        ("Korean food in Queens", {}),
        ("We nearly gave up waiting", {"waiting": None}),
        ("the flavors were bright and clean", {"food": True}),
        ("The taste is good and the place clean.", {"food": True, "hygiene": True}),
        ("a clean broth", {"food": True}),
        ("an accessible restroom", {"accessibility": True}),
        ("the bathroom was disgusting", {"hygiene": False}),
        ("the floor was greasy", {"hygiene": False}),
        ("My knees did not enjoy those stairs", {"accessibility": False}),
        ("that kind of place", {}),
        ("The osso buco is the real deal.", {}),
        ("The cost adds up really fast", {"price": None}),
        ("Impossible to get in after six", {"waiting": False}),
        ("오픈 주방인데 먼지 하나 없어요", {"hygiene": True}),
        ("near our hotel", {}),
        ("It smells fresh and clean when you walk in", {"hygiene": True}),
    ],
)  # fmt: skip
def test_english_is_understood(text, expected):
    assert judgments(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("웨이팅이 길었지만 음식은 훌륭했어요", {"waiting": False, "food": True}),
        ("직원들이 불친절하고 음식이 식어서 나왔어요", {"service": False, "food": False}),
        ("친절한 직원", {"service": True}),
        ("친절해요", {"service": True}),
        ("친절하고", {"service": True}),
        ("친절했어요", {"service": True}),
        ("안 친절해요", {"service": False}),
        ("서비스는 친절하지 않았어요", {"service": False}),
        ("분위기와 서비스가 좋아요", {"ambience": True, "service": True}),
        ("분위기좋은곳", {"ambience": True}),
        ("데이트하기 좋은", {"ambience": True}),
        ("비싸지 않은", {"price": True}),
        ("가성비 최고", {"price": True}),
        ("싸고 맛있어요", {"price": True, "food": True}),
        ("맛은 별로였어요", {"food": False}),
        ("냄새도 없고 깨끗해요", {"hygiene": True}),
        ("화장실이 더러웠어요", {"hygiene": False}),
        ("유모차", {"accessibility": None}),
        ("줄 안 서는", {"waiting": True}),
        ("음악이 너무 시끄러웠다", {"ambience": False}),
        ("한국 음식 먹고 싶어", {}),
        ("물가 다 올랐는데 여기는 안 올랐어요", {}),
        ("가격이 많이 올랐어요", {"price": False}),
        ("접시를 싹싹 비웠어요", {}),
        ("대기 공간도 없이 서 있었어요", {}),
        ("테이블이 끈적임 없이 말끔했어요", {"hygiene": True}),
        ("계단이 하나도 없음", {"accessibility": True}),
        ("끝까지 기다려 주셨어요", {"service": True}),
        ("기다릴 일이 없어요", {"waiting": True}),
        ("통로가 좁아요", {"accessibility": False}),
        ("숙소에서 가까워요", {}),
        ("맛없음 ㅠㅠ 그래도 분위기는 좋아요", {"food": False, "ambience": True}),
        ("한식은 처음이에요", {}),
        ("왜 맛집이라고 하는지 모르겠어요", {}),
    ],
)
def test_korean_is_understood(text, expected):
    assert judgments(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("料理がおいしかったです。店員さんも親切", {"food": True, "service": True}),
        ("美味しい", {"food": True}),
        ("美味しくない", {"food": False}),
        ("美味しくなかった", {"food": False}),
        ("並ばないで入れる", {"waiting": True}),
        ("待ち時間が長かった", {"waiting": False}),
        ("サービスが遅い", {"service": False}),
        ("値段が高くない店", {"price": True}),
        ("雰囲気は良くないが味は最高", {"ambience": False, "food": True}),
        ("静かで落ち着いた店", {"ambience": True}),
        ("トイレが汚い", {"hygiene": False}),
        ("ベビーカーで入れる", {"accessibility": True}),
        ("安くて清潔", {"price": True, "hygiene": True}),
        ("ﾍﾞﾋﾞｰｶｰ", {"accessibility": None}),
        ("混んでいて待った", {"waiting": False}),
        ("ホテルの近く", {}),
        ("車椅子で使えるトイレ", {"accessibility": None}),
    ],
)
def test_japanese_is_understood(text, expected):
    assert judgments(text) == expected


def test_a_mention_spans_the_aspect_and_its_judgment():
    text = "웨이팅이 길었지만 음식은 훌륭했어요"
    assert [text[mention.start : mention.end] for mention in DEFAULT_LEXICON.mentions(text)] == [
        "웨이팅이 길었",
        "음식은 훌륭",
    ]


def test_spans_refer_to_the_original_text():
    text = unicodedata.normalize("NFD", "아주   친절한\n직원, Ｇｒｅａｔ　ｆｏｏｄ")
    pieces = [text[mention.start : mention.end] for mention in DEFAULT_LEXICON.mentions(text)]
    assert [unicodedata.normalize("NFC", piece) for piece in pieces] == [
        "친절한\n직원",
        "Ｇｒｅａｔ　ｆｏｏｄ",
    ]


def test_a_description_can_define_aspects_with_their_words():
    battery = Aspect(
        "battery",
        about={"en": ("battery",), "ko": ("배터리",)},
        good={"en": ("lasts long",), "ko": ("오래 가",)},
        bad={"en": ("drains",)},
    )
    lexicon = Lexicon([battery])
    assert judgments("The battery drains quickly", lexicon) == {"battery": False}
    assert judgments("batteries are excellent", lexicon) == {"battery": True}
    assert judgments("배터리가 오래가요", lexicon) == {"battery": True}
    assert judgments("good food and friendly staff", lexicon) == {}


def test_custom_words_extend_the_default_ones():
    lexicon = Lexicon([Aspect("food", good={"en": ("slaps",)})])
    assert judgments("this slaps", lexicon) == {"food": True}
    assert judgments("so delicious", lexicon) == {"food": True}


@given(st.text(max_size=200))
def test_every_text_can_be_analyzed(text):
    spans = [(mention.start, mention.end) for mention in DEFAULT_LEXICON.mentions(text)]
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)


WORDS = st.sampled_from(
    [
        *(
            "food",
            "great",
            "not",
            "clean",
            "wait",
            " and ",
            ". ",
            "음식이 ",
            "좋은 ",
            "친절",
            "하지 않",
        ),
        *("店員", "美味し", "くない", "、", "\n\n", "\u1100\u1161", "e\u0301", "ﾊﾞ", "ﬃ", "İ"),
    ]
)


@given(st.lists(WORDS, max_size=40).map("".join))
def test_unicode_normalization_does_not_change_mentions(text):
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", composed)
    assert [mention[::3] for mention in DEFAULT_LEXICON.mentions(composed)] == [
        mention[::3] for mention in DEFAULT_LEXICON.mentions(decomposed)
    ]


@pytest.mark.parametrize("piece", ["good ", "food ", "음식이 조용 ", "not ", "a", "줄 ", "並"])
def test_the_cost_is_linear_in_the_length_of_the_text(piece):
    def work(times):
        return lines_run(lambda: DEFAULT_LEXICON.mentions(piece * times))

    work(10)
    assert work(4_000) < 6 * work(1_000)
