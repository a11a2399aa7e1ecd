"""Questions that are easily misunderstood, with their expected analysis.

In the format of `tests.services.catalog.questions`, for the description of the sample catalog.
"""

MINIMUM_RATING = """
sushi, rating >= 4.5 => sushi 4.5
>= 4.5, Korean => korean 4.5
≥4.2 bakery in Queens => bakery Queens 4.2
4.5+ ramen => ramen 4.5
Thai food, 4.3+ please => thai 4.3
four and a half stars or more, French => french 4.5
at least four and a half stars => 4.5
rated three and a half or better => 3.5
nothing below 4, Greek food => greek 4
no places under 4.2 stars => 4.2
nothing rated lower than 3.5 => 3.5
4점 밑은 싫어 => 4
4.2점 아래는 빼고 일식 => japanese 4.2
별점 4점 미만은 안 가요 => 4
평점 3.5 이하는 거를게요 => 3.5
４．５＋の寿司 => sushi 4.5
星4未満は嫌です => 4
＞＝４ Indian => indian 4
4+ people for pizza => pizza
a table for 4+ =>
a bar with 5+ beers => bar
3 courses under 40 dollars =>
4점 밑이어도 괜찮아 =>
kids below 4 eat free? => x9
ramen >=4 in Brooklyn => ramen Brooklyn 4
anything 4.7+ for brunch => breakfast 4.7
don't show me anything under 4 stars => 4
three and a half stars at least, Mexican => mexican 3.5
4.3점 밑으로는 안 갈래요 => 4.3
評価４．２未満は行きたくない => 4.2
party of 4+ , bbq => barbecue
Mexican with >= 4 stars => mexican 4
cafes rated 4.4+ in Manhattan => cafe Manhattan 4.4
I won't go anywhere below 4.2 => 4.2
at least four and a half stars for sushi => sushi 4.5
별점이 4점보다 낮은 곳은 빼줘 => 4
3.8점 이하면 안 가 => 3.8
4.5以下の店は避けたい => 4.5
two and a half blocks from here =>
a table for two and a half hours =>
we are 4 adults and 2+ kids => x9
"""

BOROUGHS = """
we stay in Queens but want to eat in Manhattan => Manhattan
Our hotel is in Manhattan, looking for ramen in Brooklyn => ramen Brooklyn
I live in the Bronx. Any Greek food in Queens? => greek Queens
coming from Staten Island for sushi in Manhattan => sushi Manhattan
Thai in Brooklyn, we're staying in Manhattan => thai Brooklyn
We're based in Brooklyn, dinner should be in Queens => Queens
퀸즈에 묵는데 브루클린에서 먹고 싶어 => Brooklyn
숙소는 맨해튼인데 브루클린 카페 추천해줘 => cafe Brooklyn
브롱스에 사는데 퀸즈 한식 => korean Queens
ホテルはマンハッタンですがブルックリンで食べたい => Brooklyn
クイーンズに泊まっていますが、ブロンクスのタイ料理 => thai Bronx
ブルックリン在住ですがマンハッタンの寿司屋 => sushi Manhattan
We are staying in Queens, any good bakery? => bakery Queens
숙소가 퀸즈예요. 라멘집 추천 => ramen Queens
Brooklyn or Queens, we live in Manhattan => Brooklyn Queens
My airbnb is in Brooklyn but I'd like to have dinner in the Bronx => Bronx
브루클린 호텔에 있는데 맨해튼에서 스시 먹고 싶어요 => sushi Manhattan
マンハッタンに住んでいます。クイーンズの中華を教えて => chinese Queens
vegan in Queens, we come from Staten Island => vegetarian Queens
Hotel in Queens, dinner in Brooklyn, Thai please => thai Brooklyn
We're working in Manhattan and want Greek in Queens => greek Queens
맨해튼 숙소에서 브루클린으로 가서 피자 먹을래 => pizza Brooklyn
スタテンアイランドから行くのでマンハッタンのカフェ => cafe Manhattan
Is there a bakery near our hotel in Brooklyn? => bakery Brooklyn
pizza from Brooklyn => pizza Brooklyn
"""

TYPOS = """
sushi in Manhatten => sushi Manhattan
Brookyln pizza => pizza Brooklyn
ramen in Quens => ramen Queens
Statan Island bakery => bakery Staten_Island
Manhattn cafe => cafe Manhattan
an Itallian place in Brooklin => italian Brooklyn
Vietnamise food => vietnamese
not in Manhatan =>
a queen sized table =>
Brook's favourite cafe => cafe
we met in Indiana, ramen please => ramen
a desk by the window in a cafe => cafe
something sweet, no crunch =>
Broklyn bagels, bakery => bakery Brooklyn
tacos in Mahnattan => mexican Manhattan
Staten Islnd pizza => pizza Staten_Island
a ranch style steakhouse => steak
cheap tacos in Brroklyn => mexican Brooklyn p9
Staten Ilsand seafood => seafood Staten_Island
Queesn noodle shop =>
Japanesse food => japanese
a brook view => a9
"""

TIRED_OF = """
ラーメンにはもう飽きた =>
ピザは食べ飽きたので和食がいい => japanese
寿司にはうんざり、中華がいい => chinese
もう焼肉は飽き飽きです、タイ料理で => thai
パスタはもういいので韓国料理 => korean
イタリアンは昨日食べたので、フレンチ => french
파스타는 지겨워요, 초밥 => sushi
한식은 이제 질렸어 =>
라멘은 어제 먹어서 카레 말고 태국 음식 => thai
fed up with pizza, Thai please => thai
I've had enough of sushi =>
we had burgers yesterday, so Greek food tonight => greek
ハンバーガーは飽きたからタイ料理 => thai
피자 물렸어, 한식 => korean
sick and tired of ramen, maybe French => french
カレーばかりで飽きたので寿司 => sushi
タコスはもう十分、ピザがいい => pizza
we ate sushi last night, steak tonight => steak
중식은 그만, 멕시칸 => mexican
"""

CONTRASTS = """
Food matters, decor really doesn't => f9 a1
Cleanliness is a dealbreaker, prices are not. => p1 h9
Service matters to me, price does not => s9 p1
Taste is important, the atmosphere isn't => f9 a1
hygiene is a must, short waits are not => h9 w1
ambience is everything; price isn't. French => french a9 p1
Good food counts, waiting time doesn't => f9 w1
The place has to be clean, it doesn't matter if it's slow => h9 w1
Service isn't everything, but taste is => f9 s1
Clean tables matter. Price doesn't. => p1 h9
good service is a must, a nice view isn't => s9 a1
Waiting is a dealbreaker, noise isn't => a1 w9
Friendly service is crucial, fast service isn't. => s1
Cleanliness counts. Decor does not. => a1 h9
Price is important to us; location isn't => p9
Parking is a must, atmosphere is not => a1 x9
"""

HEDGES = """
good food and it would be nice if it's quiet => f9 a6
great service and it would be great if there was parking => s9 x6
cheap tacos, and it'd be nice to have outdoor seating => mexican a6 p9
It would be nice if the place was quiet and the food must be tasty => f9 a6
tasty ramen and ideally no line => ramen f9 w6
A terrace would be nice, but the food has to be delicious => f9 a6
friendly staff would be nice to have, spotless tables => s6 h9
delicious food and preferably open late => f9
great sushi and it would be a bonus if it is quiet => sushi f9 a6
delicious pho and it'd be great if it were cheap => vietnamese f9 p6
clean, and it would be a bonus if the staff are friendly => s6 h9
quiet and hopefully good coffee => cafe f6 a9
I need spotless tables and it would be nice if it were near the subway => h9 x6
must be delicious, and hopefully not too loud => f9 a6
맛있어야 하고 가능하면 조용한 곳 => f9 a6
"""

SHABBY = """
허름해도 괜찮으니 맛있는 한식 => korean f9 a1
가게가 낡아도 상관없어요, 맛만 좋으면 => f9 a1
볼품없어도 되니까 싼 데 => a1 p9
좀 후줄근해도 되는데 친절한 곳 => s9 a1
누추해도 괜찮아요 깨끗하기만 하면 => a1 h9
초라한 가게라도 맛있으면 돼 => f9 a1
ぼろくてもいいから美味しいラーメン => ramen f9 a1
店が古くても構わないので清潔な店 => a1 h9
shabby is fine as long as the tacos are delicious => mexican f9 a1
even if it's run-down, the food must be great => f9 a1
허름한 노포라도 상관없으니 맛있는 고깃집 => barbecue f9 a1
건물이 낡았어도 괜찮아요, 위생만 => a1 h9
ボロい店でも大丈夫、安いラーメン => ramen a1 p9
"""

CONCESSIONS = """
서비스는 좀 나빠도 상관없고 맛은 확실한 집 => f9 s1
분위기는 별로여도 괜찮고 음식은 확실한 곳 => f9 a1
위치는 좀 나빠도 되고 위생은 철저한 곳 => h9 x1
서비스가 조금 느려도 상관없고 맛이 보장되는 식당 => f9 s1
가격은 좀 세도 되고 서비스는 최고인 곳 => s9 p1
시끄러워도 되고 직원은 친절해야 해 => s9 a1
기다려도 상관없고 가격은 저렴한 데로 => p9 w1
음식은 평범해도 괜찮고 분위기가 확실히 좋은 바 => bar f1 a9
직원이 좀 불친절해도 괜찮고 맛은 확실해야 돼요 => f9 s1
멀어도 되고 가격은 싼 데 => p9 x1
인테리어는 별로라도 상관없고 청결은 확실한 식당 => a1 h9
"""

ACCEPTABLE_WAITING = """
待つのは平気なので一番美味しいラーメン => ramen f9 w1
行列は我慢できます。おいしい寿司 => sushi f9 w1
待ち時間は全然OK、味重視で => f9 w1
並ぶのは苦になりません => w1
待つのはまったく問題ないです => w1
並ぶのは大丈夫、安い店 => p9 w1
いくらでも待てます、うまい焼肉 => barbecue f9 w1
混んでいて待つのは平気です => w1
混雑して並んでもいいので美味しいピザ => pizza f9 w1
混んでいても待てます => w1
기다리는 건 괜찮아요, 맛있는 라멘 => ramen f9 w1
웨이팅은 참을 수 있어요 => w1
줄 서는 건 문제없어요, 친절한 곳 => s9 w1
ベビーカーは大丈夫ですか => x9
車椅子は問題ないですか、静かなカフェ => cafe a9 x9
待つのは無理 => w9
混んでいない静かな店 => a9
行列に並ぶのは全然平気です => w1
待ち時間が長いのは我慢します、絶品の寿司 => sushi f9 w1
기다리는 건 상관없는데 친절했으면 => s9 w1
混んでて並ぶのは構いません => w1
"""

NOT_ABOUT_HYGIENE = """
an accessible bathroom please, Thai food => thai x9
a cafe with a wheelchair-accessible restroom => cafe x9
is there a bathroom? =>
휠체어로 갈 수 있는 화장실 있는 식당 => x9
화장실 있는 카페 => cafe
車椅子で使えるトイレのある店 => x9
clean bathroom, cheap burgers => burger p9 h9
화장실이 더러운 곳은 싫어요 => h9
トイレが汚い店は嫌 => h9
step-free toilets for my grandfather => x9
화장실 넓은 카페 휠체어 => cafe x9
"""

NEAR_THE_ACCOMMODATION = """
숙소에서 가까운 라멘집 => ramen
호텔 근처 한식당 => korean
집에서 가까운 카페 => cafe
우리 호텔에서 가까운 조용한 바 => bar a9
회사 근처 깨끗한 빵집 => bakery h9
ホテルの近くの寿司屋 => sushi
家から近いパン屋 => bakery
a bakery near my hotel => bakery
sushi close to our airbnb => sushi
something cheap near me => p9
지하철역에서 가까운 바 => bar x9
駅から近い寿司屋 => sushi x9
숙소 가까운 버거집 => burger
ramen near our hotel with friendly staff => ramen s9
宿の近くで安い居酒屋 => japanese p9
"""

GROUPS = """
what do Korean reviewers like =>
where do Koreans go for pizza => pizza
popular with Korean visitors =>
a burger joint that Korean people rate highly => burger
한국인 리뷰에서 평이 좋은 곳 =>
한국인들이 좋아하는 스테이크집 => steak
한국 사람들이 많이 가는 카페 => cafe
韓国人に人気の店 =>
韓国人のレビューが多いピザ屋 => pizza
Korean-reviewed tacos => mexican
Korean food that locals like => korean
한국인 리뷰가 좋은 한식당 => korean
what do Korean customers say about sushi => sushi
한국인 후기가 좋은 카페 => cafe
韓国人が好きなカフェ => cafe
"""

COMPARISONS = """
taste rather than atmosphere => f9 a1
cheap rather than fancy => a1 p9
I care more about food than about service => f9 s1
hygiene over price => p1 h9
food matters more than decor, Thai => thai f9 a1
service is less important than cleanliness => s1 h9
雰囲気より味 => f9 a1
値段よりもサービス重視 => s9 p1
安さより清潔さ => p1 h9
분위기보다 맛 => f9 a1
가격보다는 위생이 중요해요 => p1 h9
서비스보다는 음식 맛 좋은 일식 => japanese f9 s1
어디보다 친절한 카페 => cafe s9
생각보다 싼 곳 => p9
quality of the food over looks and decor => f9 a1
맛보다 분위기가 중요한 데이트 => f1 a9
味より雰囲気で選びたいバー => bar f1 a9
I value cleanliness more than service => s1 h9
"""

NOT_FANCY = """
not fancy, just good tacos => mexican f9 a1
nothing fancy, clean and cheap => a1 p9 h9
it doesn't have to be fancy, tasty pizza => pizza f9 a1
no need for anything fancy => a1
somewhere not too fancy with friendly staff => s9 a1
고급스럽지 않아도 되니 친절한 곳 => s9 a1
おしゃれじゃなくていいから安い店 => a1 p9
fancy Italian => italian a9
a place that isn't fancy but has tasty food => f9 a1
nothing too fancy for lunch, no waiting => a1 w9
화려하지 않아도 괜찮아요 맛있는 쌀국수 => vietnamese f9 a1
"""

NEUTRAL_MENTIONS = """
한정식 먹을 만한 깨끗한 곳 => korean h9
루프탑 바 추천 => bar a9
분위기 좋은 바에서 한잔 => bar a9
바가지 안 씌우는 곳 => p9
바로 들어갈 수 있는 곳 => w9
an Italian place with great cocktails => italian f9
칵테일 맛있는 프렌치 => french f9
a cocktail bar => bar
we want to sit by the bar of a steakhouse => bar steak
아는 바가 없어요 =>
what kind of food is cheap there? => p9
We nearly missed lunch, cheap ramen => ramen p9
맨해튼 바 => bar Manhattan
French bistro with good cocktails => french f9
깔끔한 한정식집 => korean h9
"""

MIXED = """
인테리어가 낡은 건 괜찮아요, 서비스만 좋으면 => s9 a1
古びた店で構いません、安くて美味しければ => f9 a1 p9
scruffy is ok but it must be clean => a1 h9
분위기가 좀 시끄러워도 상관없고 가격은 저렴한 곳 => a1 p9
오래 기다려도 되고 음식이 맛있으면 돼 => f9 w1
行列は気にしません、雰囲気が良ければ => a9 w1
1時間待つのは構わないので絶品ラーメン => ramen f9 w1
does it have a toilet for disabled guests => x9
화장실에 휠체어 들어가나요 => x9
호텔에서 가까운 싼 바 => bar p9
駅前のホテルの近くで静かなバー => bar a9 x9
close to my place, tasty dumplings => chinese f9
which places do Korean diners praise for clean tables => h9
한국인들 평이 좋은 라멘집 => ramen
service over price, French => french s9 p1
I care less about decor than about taste => f9 a1
가격보다 분위기 => a9 p1
価格よりも接客 => s9 p1
quiet instead of lively => a9
somewhere simple, not upscale, with great food => f9 a1
화려하지 않은 가성비 좋은 곳 => a1 p9
croissants and good cocktails, brunch => breakfast f9
we nearly always wait, so no lines please => w9
what kind of bar is quiet => bar a9
could you kindly recommend a clean bakery => bakery h9
Do Koreans like this pizza? => pizza
"""

PLAIN = """
is the staff friendly? Is it kid friendly? => s9 x9
the food doesn't have to be great, it should be fast => f1 w9
조용하고 깨끗한 카페, 비싸지 않게 => cafe a9 p9 h9
친절한 직원보다 맛이 중요해요 => f9 s1
주차 가능하고 아이 의자 있는 식당 => x9
駐車場があって子連れOKの和食 => japanese x9
安いけど清潔なベトナム料理 => vietnamese p9 h9
not a long wait, not expensive, Indian => indian p9 w9
ambience is nice to have but hygiene is a must => a6 h9
"""

FALSE_ALARMS = """
Is there a cafe over the river with good service? => cafe s9
good food for less than 20 dollars => f9
service that takes over an hour is bad => s9
less crowded than Times Square, tasty => f9 a9
more than anything I want clean tables => h9
home style Italian in Queens => italian Queens
home cooking from Brooklyn => Brooklyn f9
a place in Manhattan to work from, quiet => Manhattan a9
I don't want a place where the staff doesn't smile, friendly only => s9
does the food taste good? => f9
is the place clean? => h9
are there stairs or is it accessible => x9
What is the service like? => s9
waiting is not fun => w9
we have 4+ kids, kid friendly pizza => pizza x9
table at 7, 4.5 miles away =>
not less than 4 stars => 4
a 4.5 hour drive, cheap burgers => burger p9
맛은 보다 깊은 라멘 => ramen f9
맛도 좋고 분위기도 좋은 곳 => f9 a9
가격도 좋고 서비스도 괜찮은 식당 => s9 p9
직원이 기다려 주는 친절한 곳 => s9
유모차도 괜찮은 카페 => cafe x9
휠체어도 문제없는 식당 => x9
바다가 보이는 곳 =>
바로 옆 테이블이 시끄럽지 않은 곳 => a9
집밥 같은 한식 => korean f9
회사 회식하기 좋은 고깃집 => barbecue a9
駅より近い店 => x9
静かな店はありますか、子供は大丈夫ですか => a9
味もサービスも良い店 => f9 s9
値段も雰囲気も良いイタリアン => italian a9 p9
もういい時間なので、すぐ入れる店 => w9
家族で行けるピザ屋 => pizza
Koreatown barbecue => barbecue
Chinese reviewers love this? => chinese
Italian restaurant with reviews above 4 => italian 4
a bar where you can hear each other => bar a9
"""
