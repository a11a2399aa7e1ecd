"""What sort of answer a question asks for (a number, a date, a person), and whether a text has one.

The rules cover English, Korean and Japanese. They know forms, not facts: any number that the
question does not hold itself is taken for the number that it asks for.
"""

import re
import unicodedata
from collections.abc import Iterator

_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    r"|ninety|hundred|thousand|million|billion|dozen|half|once|twice|none|free|all|every|no)\b"
    r"|[一二三四五六七八九十百千半毎無全]"
    r"|(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무|서른|반|매|모든|무료|무상)"
)
_TIME = (
    r"\d|\b(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|today|tomorrow|yesterday|noon"
    r"|midnight|(?:day|week|month|quarter|year|decade|centur)(?:s|y|ies)?|daily|weekly|monthly"
    r"|yearly|annually|spring|summer|autumn|fall|winter|morning|evening|night|before|after|once"
    r"|until|during|immediately|at once)\b"
    r"|[월화수목금토일]요일|오늘|내일|어제|즉시|당일|매[일주월년달]|[전후뒤]에?|동안|때|봄|여름|가을|겨울"
    r"|[月火水木金土日]曜|今日|明日|昨日|毎[日週月年]|[前後春夏秋冬朝夜]|すぐ|とき|時代|世紀"
)
_PERSON = (
    r"\b[A-Z][a-z]+ [A-Z][a-z'-]+|(?i:\b(?:manager|lead|leader|director|officer|team|desk|owner"
    r"|head|reception|commander|board|staff|committee|supervisor|department|engineer)\b)"
    r"|[가-힣](?:님|씨|팀|팀장|실장|부장|과장|대표|위원|센터|직원|담당|담당자|매니저|관리자|책임자)"
    r"|(?:팀장|담당|대표|책임)|(?:さん|氏|様|担当|部|課|長|者|係|チーム|窓口|社員)"
)
_ORGANIZATION = (
    r"\b[A-Z][A-Za-z]+|\b(?:firm|company|supplier|bank|agency)\b|[ァ-ヶー]{3,}"
    r"|[가-힣](?:사|공사|은행|상사|기업|그룹|전자)\b|[㈜㈱]|株式会社|[一-鿿]社|銀行"
)

_RULES = tuple(
    (re.compile(question, re.IGNORECASE), re.compile(answer))
    for question, answer in (
        (r"\be-?mail address|이메일|메일 주소|メールアドレス", "@"),
        (r"\bphone number|\bextension\b|전화번호|내선|電話番号|内線", r"\d{3}"),
        (
            r"\bper ?cent(?:age)?\b|퍼센트|몇\s*%|何\s*(?:%|パーセント|割)",
            r"\d\s*%|\bper ?cent|퍼센트|パーセント|割",
        ),
        (
            r"\bhow (?:many|much|long|old|far|often|large|big|high|tall|fast|deep|heavy|wide)\b"
            r"|\b(?:costs?|price|fee|salary|rate|speed|weight|height|size) (?:of|for|do|does|is)\b"
            r"|얼마|몇|며칠|가격|단가|いくつ|いくら|どれ(?:く|ぐ)らい|どの(?:く|ぐ)らい|値段|価格|料金",
            _NUMBER,
        ),
        (
            r"(?:^|[,;] ?)when\b|\bwhen (?:is|was|does|did|do|will|are|were|can|must|should)\b"
            r"|\b(?:what|which) (?:year|date|day|month|time|century)\b|언제|며칠|いつ",
            _TIME,
        ),
        (
            r"\bwho(?:se|m|'s)?\b|\bname of the (?:person|manager|director|head|owner)\b"
            r"|누가|누구|성함|誰|だれ|どなた",
            _PERSON,
        ),
        (
            r"\b(?:which|what) (?:company|firm|supplier|manufacturer|vendor|bank|agency)\b"
            r"|어느 (?:업체|회사|은행)|제조사|メーカー|どこの会社|どの(?:会社|銀行)",
            _ORGANIZATION,
        ),
    )
)
_KOREAN_UNIT = re.compile(r"몇\s*([가-힣])")
_JAPANESE_UNIT = re.compile(r"何\s*(パーセント|キロ|センチ|ミリ|メートル|ポンド|[一-鿿]|つ)")
_SAME_UNIT = {
    "キロ": "キロ|kg|km",
    "センチ": "センチ|cm",
    "ミリ": "ミリ|mm",
    "メートル": "メートル|m",
    "ポンド": "ポンド|£|GBP",
    "パーセント": "パーセント|%",
    "人": "[人名]",
    "名": "[人名]",
    "명": "[명인]",
}
_COUNT = r"(?:[\d一二三四五六七八九十百千半]|[한두세네섯곱덟홉열일이삼사오육칠팔구십백])[\d,.]*\s*"


def lacks_answer_type(question: str, text: str) -> bool:
    """Whether the text has nothing of the sort that the question asks for.

    What the question holds itself is no answer. False for a question that asks for no sort that
    the rules know, such as *why* or *how do I*.
    """
    question, text = (unicodedata.normalize("NFKC", one) for one in (question, text))
    return any(not _has_new(answer, question, text) for answer in _expected(question))


def _expected(question: str) -> Iterator[re.Pattern[str]]:
    for asks, answer in _RULES:
        if asks.search(question):
            yield answer
    for units in (_KOREAN_UNIT, _JAPANESE_UNIT):
        if found := units.search(question):
            unit = found[1]
            yield re.compile(_COUNT + f"(?:{_SAME_UNIT.get(unit, re.escape(unit))})")


def _has_new(answer: re.Pattern[str], question: str, text: str) -> bool:
    return any(found[0] not in question for found in answer.finditer(text))
