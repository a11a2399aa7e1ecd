"""A description of restaurants with words in three languages."""

from domain.places import Aspect, CatalogDescription, FilterField, NamedValue, ReviewColumns

_TYPES = """
italian_restaurant | trattoria | 이탈리안, 이태리, 이탈리아 | イタリアン, イタリア料理
korean_restaurant | | 한식, 한국 음식, 한정식, 한국 식당 | 韓国料理, 韓国
japanese_restaurant | | 일식, 일본 음식 | 和食, 日本料理
sushi_restaurant | | 스시, 초밥 | 寿司, 鮨, すし
chinese_restaurant | | 중식, 중국집, 중국 음식 | 中華, 中国料理
mexican_restaurant | taco | 멕시칸, 멕시코, 타코 | メキシコ料理, メキシカン, タコス
thai_restaurant | | 태국 | タイ料理, タイ
vietnamese_restaurant | pho | 베트남, 쌀국수 | ベトナム料理
indian_restaurant | | 인도 음식, 인도 요리 | インド料理
french_restaurant | | 프렌치, 프랑스 | フレンチ, フランス料理
greek_restaurant | | 그리스 | ギリシャ料理
american_restaurant | | 미국식, 미국 음식 | アメリカン, アメリカ料理
steak_house | steak | 스테이크 | ステーキ
seafood_restaurant | | 해산물 | シーフード, 海鮮
pizza_restaurant | pizzeria | 피자 | ピザ, ピッツァ
ramen_restaurant | | 라멘 | ラーメン
barbecue_restaurant | bbq | 고깃집, 고기집, 갈비, 바비큐 | 焼肉, バーベキュー
vegetarian_restaurant | vegan | 채식, 비건 | ベジタリアン, ヴィーガン
cafe | | 카페 | カフェ
bakery | | 빵집, 베이커리 | パン屋, ベーカリー
bar | | 술집, 바, 와인바 | バー, 居酒屋
breakfast_restaurant | brunch | 브런치, 아침 식사 | ブランチ, 朝食
hamburger_restaurant | burger | 버거, 햄버거 | バーガー, ハンバーガー
dessert_shop | | 디저트 | デザート, スイーツ
"""

_BOROUGHS = """
Manhattan | | 맨해튼, 맨하탄 | マンハッタン
Brooklyn | | 브루클린 | ブルックリン
Queens | | 퀸즈, 퀸스 | クイーンズ
Bronx | | 브롱스, 브롱크스 | ブロンクス
Staten Island | | 스태튼아일랜드, 스태튼 아일랜드 | スタテンアイランド
"""


def _named_values(table):
    for line in table.strip().splitlines():
        value, *words = (part.strip() for part in line.split("|"))
        columns = (
            tuple(word.strip() for word in part.split(",") if word.strip()) for part in words
        )
        yield NamedValue(value, dict(zip(("en", "ko", "ja"), columns, strict=True)))


RESTAURANTS = CatalogDescription(
    name="Restaurants",
    places="places.jsonl",
    id="place_id",
    title="name",
    types_column="types",
    types=tuple(_named_values(_TYPES)),
    filters=(FilterField("borough_en", "borough", tuple(_named_values(_BOROUGHS))),),
    reviews=ReviewColumns(text="text"),
)

PHONES = CatalogDescription(
    name="Phones",
    places="phones.csv",
    id="id",
    title="name",
    types_column="kind",
    filters=(FilterField("colour", "colour"), FilterField("size", "size")),
    rating="score",
    rating_scale=10,
    aspects=(
        Aspect("battery", about={"en": ("battery",), "ko": ("배터리",)}, bad={"en": ("drains",)}),
        Aspect("price"),
    ),
)
