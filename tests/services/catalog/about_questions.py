"""Questions that are about the places of the sample catalog (+) and others (-).

The rules may be changed to fit `TUNE`. Never look at the errors in `TEST`: it measures how well the
rules work for other questions.
"""

TUNE = """
+ somewhere cosy for our anniversary
+ best tacos in town
+ I want noodles
+ a place to watch the game with friends
+ vegan options, not too pricey
+ is there any good dim sum in Queens?
+ What is the best Italian place in Brooklyn?
+ which sushi bar has the friendliest staff
+ wheelchair accessible brunch
+ cheap eats
+ How is the service at Trattoria Bellavigna?
+ 조용한 카페
+ 아이랑 가기 좋은 데 있어?
+ 매운 음식 먹고 싶어
+ 퀸즈에서 제일 맛있는 라멘집은 어디인가요?
+ 저렴한 브런치
+ 혼밥하기 편한 곳
+ 부모님 모시고 갈 한정식
+ 親子で行けるカフェ
+ 静かなバーを探しています
+ 安くておいしいピザ
+ 今夜どこで食べたらいい？
+ クイーンズで評価の高い寿司屋はどこですか
+ 清潔な店がいい
- What is the capital of France?
- How many days of annual leave do I have?
- Who wrote Hamlet?
- Write a Python function that sorts a list
- How do I reset my VPN password?
- What is 17 times 23?
- Tell me a joke
- When is the next release planned?
- Explain how photosynthesis works
- Translate "good morning" into German
- What is the price of Bitcoin today?
- Who invented pizza?
- minutes of the last board meeting
- 프랑스의 수도는 어디야?
- 연차는 며칠까지 쓸 수 있나요?
- 오늘 날씨 어때?
- 파이썬으로 정렬 함수 작성해 줘
- 세종대왕은 누구인가요?
- 출장비 정산은 어떻게 하나요?
- 비밀번호를 잊어버렸어요
- フランスの首都はどこですか
- 有給休暇は何日もらえますか
- 明日の天気は？
- 光合成について説明して
- 経費精算の締め切りはいつですか
- パスワードを忘れました
- この文を英語に訳して
"""

TEST = """
+ a romantic evening without breaking the bank
+ good coffee and a place to work
+ craving something spicy tonight
+ ramen without a long queue
+ family friendly pizza in Staten Island
+ Can you recommend a clean bakery?
+ anything Greek with four stars or more?
+ who has the best steak in Manhattan
+ quick lunch near the office
+ seafood, nothing fancy
+ not too loud, good wine
+ Do you know a bar with polite waiters?
+ 줄 안 서는 맛집
+ 브롱스 멕시칸
+ 친구 생일에 갈 만한 분위기 좋은 바
+ 깨끗하고 친절한 식당
+ 해산물 요리 잘하는 집
+ 커피 맛있는 데 알려 줘
+ 평점 4점 이상 베이커리
+ 휠체어로 갈 수 있는 곳이 어디예요?
+ 待ち時間の少ないラーメン
+ 接客の丁寧なフレンチ
+ マンハッタンで記念日に使える店
+ 子ども連れでも入りやすいところ
+ 値段は高くてもいいから美味しいステーキ
+ ベジタリアン向けのレストランはありますか
+ ブロンクスの焼肉
- Who is the president of the United States?
- How long is the probation period?
- What causes earthquakes?
- Summarize the onboarding checklist
- Can I carry over unused holidays?
- Convert 5 miles to kilometers
- What does the tide sensor measure?
- Give me three ideas for a birthday speech
- How do I cook pasta?
- Is the server down?
- Fix this SQL query
- Why is the sky blue?
- deadline for expense reports
- 지구에서 달까지의 거리는?
- 재택근무는 일주일에 몇 번 가능한가요?
- 이 문장을 영어로 번역해 줘
- 김치는 어떻게 만드나요?
- 서버가 왜 느려졌나요?
- 1부터 100까지 더하면 얼마야?
- 다음 회의는 언제예요?
- 회사 로고 파일
- 日本で一番高い山は？
- 在宅勤務は週に何回まで可能ですか
- 電話番号を変更したい
- ラーメンの作り方を教えて
- 1キロは何グラム？
- 会議の議事録はどこにありますか
- 詩を書いてください
"""


def labeled(questions):
    """Each question with whether it is about places."""
    lines = questions.strip().splitlines()
    return [(line[2:], line.startswith("+")) for line in lines]
