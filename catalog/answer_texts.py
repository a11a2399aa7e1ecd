"""The words of an answer that no model writes, in English, Korean and Japanese."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain import Aspect, CatalogueDescription, NamedValue, Source, Words

LANGUAGE_NAMES: Mapping[str, str] = {"en": "English", "ko": "Korean", "ja": "Japanese"}
"""What models call the languages of answers."""


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    """The words of one language. None of its sentences claims anything of a place by itself."""

    intro: str
    rating: str
    praised: str
    blamed: str
    unsaid: str
    review: str
    original: str
    nothing: str
    without: str
    separator: str
    either: str
    comma: str
    space: str
    at_least: str
    declined: str
    aspects: Mapping[str, str]

    def nothing_found(self, filters: Sequence[str]) -> str:
        """Says that there is no such place, and asks which of the filters to leave out."""
        if not filters:
            return self.nothing
        return self.nothing + self.space + self.without.format(filters=self.separator.join(filters))

    def nothing_said(self, aspects: Sequence[str]) -> str:
        """Says that reviews tell nothing again and again of these, which were asked for."""
        return self.unsaid.format(aspects=self.comma.join(aspects))

    def judged(self, aspect: str, *, praises: bool) -> str:
        """What stands before a quote that praises or blames the aspect."""
        return (self.praised if praises else self.blamed).format(aspect=aspect)


TEXTS: Mapping[str, AnswerTexts] = {
    "en": AnswerTexts(
        intro="These places fit best:",
        rating="rating {rating}",
        praised="{aspect}, praised again and again",
        blamed="{aspect}, criticised again and again",
        unsaid="I found nothing that reviews say again and again about: {aspects}.",
        review="review",
        original="in the original",
        nothing="I found no place that fits.",
        without="Shall I search without {filters}?",
        separator=" or without ",
        either=" or ",
        comma=", ",
        space=" ",
        at_least="a rating of at least {rating:g}",
        declined="ruling out any {type}",
        aspects={
            "food": "Food",
            "service": "Service",
            "ambience": "Ambience",
            "price": "Price",
            "hygiene": "Cleanliness",
            "waiting": "Waiting",
            "accessibility": "Accessibility",
        },
    ),
    "ko": AnswerTexts(
        intro="가장 잘 맞는 곳입니다:",
        rating="평점 {rating}",
        praised="여러 리뷰의 {aspect} 칭찬",
        blamed="여러 리뷰의 {aspect} 불만",
        unsaid="{aspects}: 여러 리뷰에 공통된 평가는 찾지 못했습니다.",
        review="리뷰",
        original="원문",
        nothing="조건에 맞는 곳을 찾지 못했습니다.",
        without="{filters} 조건을 빼고 찾아볼까요?",
        separator=" 또는 ",
        either="·",
        comma=", ",
        space=" ",
        at_least="평점 {rating:g} 이상",
        declined="{type} 제외",
        aspects={
            "food": "음식",
            "service": "서비스",
            "ambience": "분위기",
            "price": "가격",
            "hygiene": "청결",
            "waiting": "대기",
            "accessibility": "접근성",
        },
    ),
    "ja": AnswerTexts(
        intro="条件に最も合うスポットです：",
        rating="評価 {rating}",
        praised="{aspect}：複数のレビューで好評",
        blamed="{aspect}：複数のレビューで不評",
        unsaid="{aspects}：複数のレビューに共通する評価は見つかりませんでした。",
        review="レビュー",
        original="原文",
        nothing="条件に合うスポットは見つかりませんでした。",
        without="{filters}の条件を外して探しますか？",
        separator="または",
        either="・",
        comma="、",
        space="",
        at_least="評価{rating:g}以上",
        declined="{type}以外",
        aspects={
            "food": "料理",
            "service": "接客",
            "ambience": "雰囲気",
            "price": "価格",
            "hygiene": "清潔さ",
            "waiting": "待ち時間",
            "accessibility": "アクセス・バリアフリー",
        },
    ),
}


def value_name(value: str, named: Sequence[NamedValue], language: str) -> str:
    """What people who speak the language call a value of the data, such as italian_restaurant.

    A catalogue names it by its first word for it; in English by the value itself.
    """
    words: Words = next((one.words for one in named if one.value == value), {})
    of_language = words.get(language, ()) if language != "en" else ()
    return of_language[0] if of_language else value.replace("_", " ")


def field_name(value: str, named: Sequence[NamedValue], language: str) -> str:
    """What people who speak the language call a value that places are narrowed by.

    Such a value is often told by the name of its column alone ("not allowed" of the pets), so it is
    called by its first word in English too.
    """
    words: Words = next((one.words for one in named if one.value == value), {})
    return (words.get(language) or (value,))[0]


def aspect_name(name: str, aspects: Sequence[Aspect], language: str) -> str:
    """What people who speak the language call an aspect: in English by its name."""
    if known := TEXTS[language].aspects.get(name):
        return known
    about: Words = next((one.about for one in aspects if one.name == name), {})
    words = about.get(language, ()) if language != "en" else ()
    return words[0] if words else name.replace("_", " ")


def group_name(group: str, description: CatalogueDescription, language: str) -> str:
    """What a review of that group is called: 한국인 리뷰."""
    names = dict(description.groups).get(group, {})
    return names.get(language) or names.get("en") or f"{group} {TEXTS[language].review}".strip()


def review_group(source: Source, description: CatalogueDescription) -> str | None:
    """The described group that wrote the review of the source; None where none is known to have."""
    heading = source.heading_path[-1] if len(source.heading_path) > 1 else ""
    group = heading.partition(" · ")[0]
    return group if group in dict(description.groups) else None
