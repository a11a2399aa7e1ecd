"""A catalog of four restaurants, imported with the real services."""

import json

import yaml

from domain import LOCAL_USER

GROUPS = {
    "korean": {"en": "Korean review", "ko": "한국인 리뷰", "ja": "韓国人のレビュー"},
    "local": {"en": "local review", "ko": "현지인 리뷰", "ja": "地元の人のレビュー"},
}
DESCRIPTION = {
    "catalog": "Restaurants",
    "places": "places.jsonl",
    "id": "place_id",
    "title": "name",
    "text": ["about"],
    "facts": ["address"],
    "types": {
        "column": "types",
        "words": {
            "italian_restaurant": {
                "en": ["italian", "trattoria"],
                "ko": ["이탈리안"],
                "ja": ["イタリアン"],
            },
            "ramen_restaurant": {"en": ["ramen"], "ko": ["라멘"], "ja": ["ラーメン"]},
        },
    },
    "rating": {"column": "rating", "scale": 5},
    "location": {"latitude": "lat", "longitude": "lon"},
    "filters": {
        "borough_en": {
            "column": "borough",
            "words": {
                "Brooklyn": {"ko": ["브루클린"], "ja": ["ブルックリン"]},
                "Queens": {"ko": ["퀸스"], "ja": ["クイーンズ"]},
            },
        }
    },
    "reviews": {"column": "reviews", "text": "text", "group": "group", "rating": "rating"},
    "groups": GROUPS,
}


def _review(text, group="local", rating=5):
    return {"text": text, "group": group, "rating": rating}


PLACES = [
    {
        "place_id": "lucia",
        "name": "Trattoria Lucia",
        "about": "An Italian restaurant in an old bakery.",
        "address": "3 Main Street",
        "types": ["italian_restaurant"],
        "borough": "Brooklyn",
        "rating": 4.7,
        "lat": 40.68,
        "lon": -73.97,
        "reviews": [
            _review("The ambience is lovely and romantic."),
            _review("Beautiful ambience, candles everywhere."),
            _review("분위기가 정말 좋아요.", "korean"),
            _review("분위기 좋고 음식도 맛있어요.", "korean"),
        ],
    },
    {
        "place_id": "pronto",
        "name": "Pasta Pronto",
        "about": "Cheap Italian pasta, eaten standing.",
        "address": "9 Side Street",
        "types": ["italian_restaurant"],
        "borough": "Queens",
        "rating": 3.1,
        "lat": 40.74,
        "lon": -73.85,
        "reviews": [_review("Cheap and quick."), _review("Noisy, but the price is low.")],
    },
    {
        "place_id": "taro",
        "name": "Ramen Taro",
        "about": "Ramen with a clear broth.",
        "address": "5 Bay Street",
        "types": ["ramen_restaurant"],
        "borough": "Brooklyn",
        "rating": 4.2,
        "lat": 40.65,
        "lon": -73.95,
        "reviews": [_review("Delicious ramen."), _review("국물이 맛있어요.", "korean")],
    },
    {
        "place_id": "nameless",
        "name": "Corner Diner",
        "about": "A diner without a single review.",
        "address": "1 Corner",
        "types": ["american_restaurant"],
        "borough": "Bronx",
    },
]


def write_restaurants(folder, places=PLACES, **changes):
    """Write the catalog to a folder; returns the path of its description."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(place, ensure_ascii=False) for place in places]
    (folder / "places.jsonl").write_text("\n".join(lines), encoding="utf-8")
    description = yaml.safe_dump({**DESCRIPTION, **changes}, allow_unicode=True)
    path = folder / "catalog.yaml"
    path.write_text(description, encoding="utf-8")
    return path


def import_restaurants(services, folder, places=PLACES, **changes):
    """Import the catalog; returns its id."""
    path = write_restaurants(folder, places, **changes)
    report = services.catalog_imports.run(LOCAL_USER, path)
    assert report.state.value == "completed", report
    return next(
        one.id
        for one in services.catalog.catalogs(LOCAL_USER)
        if one.name == {**DESCRIPTION, **changes}["catalog"]
    )
