"""What an answer says about a question that is not about the catalog."""

import pytest

from domain import Aspect, CatalogDescription, FilterField, NamedValue
from services.catalog.catalogs import Catalog
from services.catalog.composed_answer import refusal_text
from services.catalog.rule_analyzer import RuleAnalyzer

HOMES = CatalogDescription(
    "Homes",
    "homes.csv",
    "id",
    "name",
    types=(NamedValue("share_house", {"ko": ("셰어하우스",)}),),
    filters=(
        FilterField(
            "pets",
            "pets",
            (NamedValue("allowed", {"en": ("pets allowed",), "ko": ("반려동물 가능",)}),),
        ),
        FilterField("area", "area_WEST_side"),
    ),
    aspects=(Aspect("noise_level"),),
)


def offers(language: str, **values: list[str]) -> list[str]:
    """The lines that list what can be asked; `values` occur in the data, by filter."""
    catalog = Catalog("c", "Homes", HOMES, RuleAnalyzer(HOMES, values))
    return refusal_text(catalog, language).splitlines()[2:]


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            [
                "- Type: Share house",
                "- Pets allowed",
                "- Area WEST side: North end",
                "- What matters to you: Noise level",
            ],
        ),
        (
            "ko",
            [
                "- 종류: 셰어하우스",
                "- 반려동물 가능",
                "- Area WEST side: North end",
                "- 중요하게 보는 점: Noise level",
            ],
        ),
    ],
)
def test_what_can_be_asked_is_shown_with_the_names_of_the_page(
    language: str, lines: list[str]
) -> None:
    assert offers(language, pets=["allowed"], area=["north_end"]) == lines


def test_values_without_names_are_shown_with_their_column() -> None:
    assert "- Pets: Pets allowed, On request" in offers("en", pets=["allowed", "on request"])


def test_a_filter_without_values_is_not_shown() -> None:
    assert not [line for line in offers("en") if "Area" in line]
