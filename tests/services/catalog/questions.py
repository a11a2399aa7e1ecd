"""Questions like those of users, with their expected analysis.

A line is a question, and after => the short names of types, the boroughs, the minimum rating, and
the aspects: a letter each (f food, s service, a ambience, p price, h hygiene, w waiting,
x accessibility) with the weight in tenths.
"""

from domain.places import any_of

KOREAN = """
가격 비싸도 괜찮으니 분위기 좋은 이탈리안 => italian a9 p1
브루클린에서 저렴하고 맛있는 피자집 알려줘 => pizza Brooklyn f9 p9
맨해튼에 있는 조용한 스시집 추천해 주세요 => sushi Manhattan a9
퀸즈 말고 브롱스 쪽 한식당 => korean Bronx
별점 4.5점 이상인 태국 음식점 => thai 4.5
평점 4점 넘는 데로 추천 부탁드려요 => 4
이탈리안 말고 일식 먹고 싶어 => japanese
이탈리안이나 피자 말고 다른 거 =>
줄 안 서는 라멘집 => ramen w9
웨이팅 없이 바로 들어갈 수 있는 버거집 => burger w9
기다려도 괜찮으니까 진짜 맛있는 라멘 => ramen f9 w1
유모차 끌고 갈 수 있는 카페 => cafe x9
휠체어로 들어갈 수 있는 프렌치 레스토랑 => french x9
데이트하기 좋은 와인바 => bar a9
직원이 친절한 멕시칸 식당 => mexican s9
가성비 좋은 베트남 쌀국수집 => vietnamese p9
가격은 상관없고 서비스가 최고인 스테이크하우스 => steak s9 p1
값은 신경 안 써요. 위생만 철저하면 돼요 => p1 h9
되도록 조용한 카페 => cafe a6
가급적이면 저렴한 곳으로, 음식은 꼭 맛있어야 해 => p6 f9
가능하면 주차 되는 고깃집 => barbecue x6
스태튼아일랜드 빵집 어디가 제일 깨끗해? => bakery Staten_Island h9
분위기좋은이탈리안추천 => italian a9
브루클린분위기좋은카페 => cafe Brooklyn a9
싸고 양 많은 중국집 => chinese f9 p9
고급이어도 상관없으니 분위기 있는 프렌치 => french a9 p1
시끄러워도 괜찮아 음식만 맛있으면 돼 => f9 a1
부모님 모시고 갈 깔끔한 한정식집 => korean h9
아이랑 같이 가기 좋은 피자집 => pizza x9
회식하기 좋은 고깃집 맨해튼 => barbecue Manhattan a9
기념일에 갈 만한 로맨틱한 곳 => a9
화장실 깨끗한 카페 => cafe h9
비싸지 않은 초밥집 => sushi p9
너무 비싼 곳은 말고 => p9
불친절한 곳은 싫어요 => s9
서비스는 별로여도 괜찮으니 싼 데 => s1 p9
멀어도 상관없어요, 제일 맛있는 타코 => mexican f9 x1
지하철역에서 가까운 인도 음식점 => indian x9
평점 4.2 이상 브런치 카페 => breakfast cafe 4.2
4점 이상 맨하탄 그리스 음식 => greek Manhattan 4
４．５점 이상 해산물 => seafood 4.5
10점 이상인 곳 =>
4명 이상 앉을 수 있는 술집 => bar
별 네 개 이상 디저트 가게 => dessert 4
채식 식당 중에 청결하고 친절한 곳 => vegetarian s9 h9
예산 상관없이 최고의 스테이크 => steak f9 p1
비건 식당 퀸스 => vegetarian Queens
오래 기다리지 않는 식당 => w9
웨이팅 있어도 괜찮아요 => w1
줄 서도 되니까 존맛 라멘집 => ramen f9 w1
친구들이랑 수다 떨기 좋은 카페 => cafe a9
비즈니스 디너로 쓸 조용하고 서비스 좋은 곳 => s9 a9
혼밥하기 좋은 깨끗한 일식집 => japanese h9
미국식 버거 먹고 싶은데 줄 긴 건 싫어 => american burger w9
맛은 중요하지 않고 뷰가 좋은 루프탑 바 => bar f1 a9
맛이랑 위생이 제일 중요해요 => f9 h9
가격대가 착한 한식 => korean p9
엘리베이터 있는 곳이면 좋겠어요 => x9
돈은 얼마든지 낼 수 있으니 완벽한 서비스 => s9 p1
이왕이면 사진 찍기 예쁜 디저트 카페 => dessert cafe a6
조용하면 더 좋고 음식 맛있는 태국 식당 => thai f9 a6
주차 편한 갈비집 브롱크스 => barbecue Bronx x9
음식이 빨리 나오는 중식당 => chinese w9
알레르기 대응 잘 되는 식당 => f9
이탈리안 빼고 다 괜찮아 =>
맨해튼 제외하고 조용한 바 => bar a9
사람 많아서 붐비는 곳 말고 한적한 카페 => cafe a9
브루클린이나 퀸즈에 있는 한식 => korean Brooklyn Queens
계단 없는 식당이요 => x9
인테리어 예쁜 브루클린 카페 => cafe Brooklyn a9
싼 집 => p9
가격 저렴한 곳 없나요? => p9
위생 상태 좋은 식당 => h9
서비스 좋고 분위기 좋은데 비싸지 않은 이탈리안 => italian s9 a9 p9
소개팅 장소 추천 좀 => a9
친절하고 청결한 베이커리 있을까요? => bakery s9 h9
불친절해도 맛만 있으면 됩니다 => f9 s1
값이 좀 나가더라도 음식 훌륭한 프렌치 => french f9 p1
대기시간 길지 않은 베트남 쌀국수 => vietnamese w9
프렌치 말고 이탈리안으로, 분위기 좋은 데 => italian a9
비위생적인 데는 절대 안 돼요 => h9
별점 4점대 베이커리 => bakery 4
가격은 좀 있어도 되는데 서비스가 좋았으면 해요 => s9 p1
30분 이상 기다리는 건 못 참아요 => w9
채식 식당이나 태국집 => vegetarian thai
강아지랑 같이 갈 수 있는 브런치 카페 => breakfast cafe x9
회식 장소로 고깃집 찾는데 가성비 좋아야 함 => barbecue a9 p9
"""

ENGLISH = """
Price is no object, I want an Italian place with a great atmosphere => italian a9 p1
cheap and tasty pizza in Brooklyn => pizza Brooklyn f9 p9
Quiet sushi restaurant in Manhattan, please => sushi Manhattan a9
Not in Queens but in the Bronx: Korean food => korean Bronx
Thai rated above 4.5 => thai 4.5
at least 4 stars => 4
anything but Italian, maybe Japanese => japanese
no sushi or ramen please =>
ramen with no line => ramen w9
a burger joint where I don't have to wait => burger w9
I don't mind waiting if the ramen is really delicious => ramen f9 w1
somewhere I can take a stroller for coffee => x9
wheelchair accessible French restaurant => french x9
a bar that's good for dates => bar a9
Mexican with friendly staff => mexican s9
good value pho, Vietnamese => vietnamese p9
I don't care about the price but service must be excellent at a steakhouse => steak s9 p1
Money is no issue. Just make sure it's clean. => p1 h9
a cafe, quiet if possible => cafe a6
If possible cheap, but the food must be delicious => p6 f9
preferably with parking, a barbecue place => barbecue x6
What is the cleanest bakery on Staten Island? => bakery Staten_Island h9
expensive is fine as long as the ambience is romantic => a9 p1
cheap Chinese with huge portions => chinese f9 p9
fancy French spot for our anniversary => french a9
It can be noisy, the food just has to be tasty => f9 a1
kid friendly pizza => pizza x9
a business dinner in Manhattan, steak house with impeccable service => steak Manhattan s9 a9
a cafe with spotless restrooms => cafe h9
sushi that is not too expensive => sushi p9
nothing overpriced => p9
no rude waiters please => s9
bad service is ok, I just want somewhere cheap => s1 p9
best tacos, Mexican, even if it's far => mexican f9 x1
Indian restaurant near the subway => indian x9
brunch cafe with a rating of 4.2 or higher => breakfast cafe 4.2
Greek in Manhattan, 4+ stars => greek Manhattan 4
seafood rated 4.5 or better => seafood 4.5
rated above 10 =>
a table for 4 at a bar => bar
four stars or more, dessert => dessert 4
vegetarian, clean, and courteous staff => vegetarian s9 h9
the best steak regardless of price => steak f9 p1
vegan food in Queens => vegetarian Queens
somewhere without a long wait => w9
a long wait is fine with me => w1
happy to queue for amazing food => f9 w1
cosy cafe to catch up with friends => cafe a9
American burgers but no long lines => american burger w9
I don't care how the food is, I want a rooftop bar with a view => bar f1 a9
taste and hygiene matter most => f9 h9
affordable Korean barbecue => korean barbecue p9
An elevator would be nice => x6
willing to pay a lot for flawless service => s9 p1
easy parking in the Bronx => Bronx x9
Chinese where the food comes out fast => chinese w9
gluten-free options => f9
everything except Italian =>
outside of Manhattan, a quiet bar => bar a9
not a crowded cafe => cafe a9
Korean in Brooklyn or Queens => korean Brooklyn Queens
no stairs => x9
Brooklyn cafe with a beautiful interior => cafe Brooklyn a9
good service, nice ambiance and reasonable prices, Italian => italian s9 a9 p9
where should I go for a first date? => a9
a friendly and clean bakery => bakery s9 h9
ideally somewhere quiet with polite staff => s6 a6
I'd love some greek food tonight, budget is tight => greek p9
whatever the cost, the best French food in Manhattan => french Manhattan f9 p1
service isn't important, price is => s1 p9
minimum rating 3.5 please, Thai or Vietnamese => thai vietnamese 3.5
3.5 stars and up in Queens => Queens 3.5
reviews below 4 are fine =>
a quick lunch in Manhattan => Manhattan w9
kosher bakery => bakery f9
my grandmother uses a walker, Italian please => italian x9
don't worry about the price, great cocktails at a lively bar => bar f9 a9 p1
cafés in Brooklyn => cafe Brooklyn
bbq without breaking the bank => barbecue p9
I hate waiting in line. Where can I get dumplings? => w9
any french bistro with a rating over 4? price doesn't matter => french p1 4
don't need fancy decor, just clean and quick => a1 h9 w9
good ramen, wouldn't mind a queue => ramen f9 w1
outdoor seating if possible, good pasta => f9 a6
I couldn't care less about service, give me cheap eats => s1 p9
Give me the best rated sushi, 4.7 or above => sushi 4.7
Korean bbq but skip Queens => korean barbecue
a bakery close to the subway with short lines => bakery w9 x9
Something other than pizza in Staten Island => Staten_Island
can we bring a baby stroller in? => x9
"""

JAPANESE = """
値段は気にしないので雰囲気のいいイタリアン => italian a9 p1
ブルックリンで安くて美味しいピザ屋を教えて => pizza Brooklyn f9 p9
マンハッタンの静かな寿司屋をお願いします => sushi Manhattan a9
クイーンズ以外でブロンクスの韓国料理 => korean Bronx
評価4.5以上のタイ料理 => thai 4.5
星4以上のお店 => 4
イタリアン以外で和食が食べたい => japanese
イタリアンやピザ以外 =>
並ばないで食べられるラーメン => ramen w9
待たずに入れるハンバーガー屋 => burger w9
並んでもいいから本当においしいラーメン => ramen f9 w1
ベビーカーで入れるカフェ => cafe x9
車椅子でも大丈夫なフレンチ => french x9
デートに使えるバー => bar a9
店員さんが親切なメキシコ料理 => mexican s9
コスパのいいベトナム料理 => vietnamese p9
値段は問わないのでサービスが最高のステーキ => steak s9 p1
予算は気にしません。とにかく清潔な店 => p1 h9
できれば静かなカフェ => cafe a6
なるべく安いところで、でも味は絶対おいしいところ => p6 f9
できたら駐車場のある焼肉屋 => barbecue x6
スタテンアイランドで一番きれいなパン屋 => bakery Staten_Island h9
高くてもいいから雰囲気重視 => a9 p1
安くてボリュームのある中華 => chinese f9 p9
記念日におしゃれなフレンチ => french a9
うるさくても構わないので料理がうまい店 => f9 a1
子連れで行きやすいピザ屋 => pizza x9
接待で使える落ち着いた店、マンハッタン => Manhattan a9
トイレが綺麗なカフェ => cafe h9
高くない寿司 => sushi p9
高すぎる店は嫌 => p9
接客が悪い店は避けたい => s9
サービスは多少悪くても大丈夫、とにかく安い店 => s1 p9
遠くてもいいので一番美味しいタコス => mexican f9 x1
駅から近いインド料理 => indian x9
評価が4.2以上のブランチカフェ => breakfast cafe 4.2
マンハッタンのギリシャ料理で星4つ以上 => greek Manhattan 4
４．５点以上のシーフード => seafood 4.5
評価10以上 =>
4名以上で入れる居酒屋 => bar
星四つ以上のスイーツ => dessert 4
ベジタリアンで清潔で接客が丁寧 => vegetarian s9 h9
予算に関係なく最高のステーキ => steak f9 p1
ヴィーガンの店、クイーンズで => vegetarian Queens
待ち時間の短い店 => w9
待ってもいいです => w1
友達とゆっくり話せるカフェ => cafe a9
アメリカンなバーガー、行列は嫌 => american burger w9
味はどうでもいいので夜景のきれいなバー => bar f1 a9
味と衛生が一番大事 => f9 h9
リーズナブルな韓国焼肉 => korean barbecue p9
エレベーターがあると助かる => x9
いくら高くても完璧なサービス => s9 p1
料理がすぐに出てくる中華 => chinese w9
アレルギー対応の店 => f9
イタリアンじゃなくてフレンチ => french
マンハッタンを除いて静かなバー => bar a9
混んでいないカフェ => cafe a9
ブルックリンかクイーンズの韓国料理 => korean Brooklyn Queens
階段のない店 => x9
内装がかわいいブルックリンのカフェ => cafe Brooklyn a9
サービスが良くて雰囲気も良くて高くないイタリアン => italian s9 a9 p9
親切で清潔なベーカリー => bakery s9 h9
可能であれば個室のある和食 => japanese a6
値段にはこだわりません、味重視で => f9 p1
行列に並びたくない => w9
価格は安め、量は多めの定食 => p9 f9
おすすめの安いお店ありますか => p9
新鮮な魚が食べられるシーフード => seafood f9
赤ちゃん連れでも入りやすいレストラン => x9
レビュー3.5以上でお手頃な店 => p9 3.5
ﾌﾞﾙｯｸﾘﾝのｶﾌｪ => cafe Brooklyn
ハンバーガー => burger
バーベキュー => barbecue
誕生日ディナーにぴったりの素敵な雰囲気 => a9
気さくなスタッフがいるバー => bar s9
昼に急いで食べられるラーメン => ramen w9
騒音が気にならない落ち着いたカフェ => cafe a9
値段は気にならないのでおいしい寿司 => sushi f9 p1
ギリシャ料理じゃなくてインド料理がいい => indian
行列に並ぶのは苦手なのですぐ入れる店がいい => w9
サービスは期待しないけど料理がうまいところ => f9 s1
お金に糸目はつけないので最高のディナー => f9 p1
多少高くても構わないので、とびきり美味しいステーキ => steak f9 p1
ピザがいいです => pizza
衛生状態が心配なので清潔な店 => h9
足の悪い父と行きたい => x9
韓国料理は避けたい =>
あまり待たされない店 => w9
トイレがきれいで赤ちゃん連れOKの店 => h9 x9
"""

_ASPECTS = {
    "f": "food", "s": "service", "a": "ambience", "p": "price", "h": "hygiene", "w": "waiting",
    "x": "accessibility",
}  # fmt: skip
_TYPES = {
    "steak": "steak_house", "cafe": "cafe", "bakery": "bakery", "bar": "bar",
    "burger": "hamburger_restaurant", "dessert": "dessert_shop",
}  # fmt: skip
_BOROUGHS = ("Manhattan", "Brooklyn", "Queens", "Bronx", "Staten_Island")


def cases(text):
    """(question, boroughs or None, types or None, minimum rating or None, mentioned weights)."""
    for line in text.strip().splitlines():
        question, _, analysis = line.partition(" =>")
        yield question, *_expected(analysis.split())


def _expected(words):
    boroughs, types, rating, weights = [], [], None, {}
    for word in words:
        if word in _BOROUGHS:
            boroughs.append(word.replace("_", " "))
        elif word[0] in "0123456789":
            rating = float(word)
        elif len(word) == 2 and word[0] in _ASPECTS and word[1].isdigit():
            weights[_ASPECTS[word[0]]] = int(word[1]) / 10
        else:
            types.append(_TYPES.get(word, f"{word}_restaurant"))
    return any_of(boroughs) or None, tuple(types) or None, rating, weights
