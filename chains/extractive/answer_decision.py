"""Decides whether the best sentence answers the question: a logistic model of ten measures.

docs/evaluation.md has the contribution of each measure; `benchmarks.fitting.answer_decision` fits
the coefficients.
"""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from operator import mul

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from chains.condensing.follow_ups import Idf
from chains.extractive.sentence_scores import ScoredSentence, headings_above, passage_cosine
from domain.language.script import CJK, HAN, HANGUL, KATAKANA, is_foreign, script_family
from domain.language.tokens import content_tokens, subject_tokens

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
    """Whether the text contains nothing of the type that the question asks for, such as a date.

    Values that the question itself contains do not count. False if the rules have no type for the
    question, as for *why* or *how do I*.
    """
    question, text = (unicodedata.normalize("NFKC", one) for one in (question, text))
    return any(not _has_new(answer, question, text) for answer in _expectations(question))


def _expectations(question: str) -> Iterator[re.Pattern[str]]:
    for question_pattern, answer in _RULES:
        if question_pattern.search(question):
            yield answer
    for units in (_KOREAN_UNIT, _JAPANESE_UNIT):
        if match := units.search(question):
            unit = match[1]
            yield re.compile(_COUNT + f"(?:{_SAME_UNIT.get(unit, re.escape(unit))})")


def _has_new(answer: re.Pattern[str], question: str, text: str) -> bool:
    return any(match[0] not in question for match in answer.finditer(text))


MATCHED_SHARE = 0.6
"""The minimum share of a word's tokens that must match, because Korean endings vary."""

_LATIN = rf"[^\W_{CJK}]+"
_WORD = re.compile(rf"[{HANGUL}]+|[{HAN}]+|[{KATAKANA}]+|{_LATIN}(?:[-_.'\u2019]{_LATIN})*")


def unmatched_words(question: str, tokens: Collection[str]) -> str:
    """The question without the words that match the tokens.

    *What is the Dunlin's top speed?* becomes *What is the top speed?* with the tokens of a passage
    about the Dunlin. Empty if no meaningful word remains.
    """
    text = unicodedata.normalize("NFKC", question)
    parts, end = [], 0
    for word in _WORD.finditer(text):
        if _is_matched(word[0], tokens):
            parts.append(text[end : word.start()])
            end = word.end()
    remainder = " ".join("".join([*parts, text[end:]]).split())
    return remainder if content_tokens(remainder) else ""


def _is_matched(word: str, tokens: Collection[str]) -> bool:
    own = set(content_tokens(word))
    return bool(own) and sum(token in tokens for token in own) >= MATCHED_SHARE * len(own)


MOST_MARGIN = 0.3
NO_RIVAL = 0.1
"""The value of `Measures.lead` if all passages are in one script; approximately its mean."""
ALL_MATCHED = 0.3
"""The value of `Measures.unmatched` if all words match; approximately its mean."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of whether the best sentence is an answer.

    - `cosine`: of the question and the sentence with its heading.
    - `alone`: the same without the heading, which often names the subject of the question.
    - `nearest`: the cosine of the question and the passage.
    - `margin`: the lead of the nearest passage over the second nearest.
    - `lead`: the lead of the nearest passage in the sentence's script over other scripts.
    - `passage`: the share of the question's subject words, weighted by rarity in the library, that
      the passage and its headings contain.
    - `sentence`: the share that the sentence, the one read with it, and the title contain.
    - `share`: `ScoredSentence.share`.
    - `unmatched`: the cosine of the words that the passage lacks and the sentence nearest to them.
    - `lacking`: 1 if the sentence contains nothing of the expected type, such as a date.
    """

    cosine: float
    alone: float
    nearest: float
    margin: float
    lead: float
    passage: float
    sentence: float
    share: float
    unmatched: float
    lacking: float


def measures_of(
    question: str,
    typed: str,
    documents: Sequence[Document],
    sentences: Sequence[ScoredSentence],
    idf: Idf,
    embeddings: Embeddings | None = None,
) -> Measures:
    """The measures of the first sentence.

    Args:
        question: The standalone question.
        typed: The question as typed; repeating terms that condensing added is not an answer.
        documents: The passages of the sentences.
        sentences: Best first; those compared by meaning have vectors.
        idf: The library's word statistics.
        embeddings: The model of the vectors; None if meanings are not compared.
    """
    best = sentences[0]
    document = documents[best.n - 1]
    weights = idf(sorted(set(subject_tokens(question))))
    title = set(content_tokens(document.metadata.get("title") or ""))
    above = set(content_tokens(headings_above(document)))
    covered = above.union(content_tokens(document.page_content))
    sentence = document.page_content[best.start : best.end]
    return Measures(
        cosine=_cosine_of(question, best, embeddings),
        alone=_alone(question, sentence, embeddings),
        nearest=passage_cosine(document) or 0.0,
        margin=_margin(documents),
        lead=_lead(documents, document),
        passage=_coverage(weights, covered),
        sentence=_coverage(weights, title | best.near),
        share=best.share,
        unmatched=_best_similarity(unmatched_words(question, covered), sentences, embeddings),
        lacking=float(lacks_answer_type(typed, sentence)),
    )


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine similarity; 0 if a vector is zero."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(map(mul, one, other)) / length if length else 0.0


def _cosine_of(question: str, sentence: ScoredSentence, embeddings: Embeddings | None) -> float:
    """The larger cosine of the typed and the standalone question with the sentence."""
    if embeddings is None or sentence.vector is None:
        return sentence.cosine or 0.0
    return max(sentence.cosine or 0.0, cosine(embeddings.embed_query(question), sentence.vector))


def _alone(question: str, sentence: str, embeddings: Embeddings | None) -> float:
    if embeddings is None:
        return 0.0
    [vector] = embeddings.embed_documents([sentence])
    return cosine(embeddings.embed_query(question), vector)


def _best_similarity(
    words: str, sentences: Sequence[ScoredSentence], embeddings: Embeddings | None
) -> float:
    vectors = [one.vector for one in sentences if one.vector is not None]
    if embeddings is None or not words or not vectors:
        return ALL_MATCHED
    word_vector = embeddings.embed_query(words)
    return max(cosine(word_vector, vector) for vector in vectors)


def _coverage(weights: Mapping[str, float], tokens: Collection[str]) -> float:
    total = sum(weights.values())
    return sum(weights[token] for token in weights if token in tokens) / (total or 1)


def _lead(documents: Sequence[Document], best: Document) -> float:
    nearest: dict[bool, float] = {}
    for document in documents:
        foreign = is_foreign(document.page_content, best.page_content)
        nearest[foreign] = max(nearest.get(foreign, 0.0), passage_cosine(document) or 0.0)
    return nearest[False] - nearest[True] if True in nearest else NO_RIVAL


def _margin(documents: Sequence[Document]) -> float:
    values = [passage_cosine(document) for document in documents]
    cosines = sorted((one for one in values if one is not None), reverse=True)
    return min(cosines[0] - cosines[1], MOST_MARGIN) if len(cosines) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The weight of each measure in the log-odds; a sum above 0 means that there is an answer."""

    weights: Measures
    bias: float

    def log_odds(self, measures: Measures) -> float:
        """The log-odds that there is an answer."""
        return sum(map(mul, astuple(self.weights), astuple(measures)), self.bias)


BY_MEANING = {
    "latin": Coefficients(Measures(6.3, 1.7, 1.2, 5.5, 0, 2.3, -1.1, 2.7, 7.2, -1.8), -7.43),
    "korean": Coefficients(Measures(5.3, 3.7, 0, 1.4, 0, 0.1, -2.0, 6.7, 3.7, -1.5), -6.72),
    "japanese": Coefficients(Measures(3.3, 2.3, -1.5, 4.9, 0, 2.0, -2.1, 5.4, 1.1, -1.5), -4.01),
}
"""Coefficients by script of the question, for passages in the same script."""
BY_WORDS = {
    "latin": Coefficients(Measures(0, 0, 0, 0, 0, 5.1, 3.5, 1.0, 0, -1.0), -4.00),
    "korean": Coefficients(Measures(0, 0, 0, 0, 0, 2.3, 1.8, 6.8, 0, -0.5), -4.30),
    "japanese": Coefficients(Measures(0, 0, 0, 0, 0, 3.3, 0.4, 6.3, 0, -0.3), -4.41),
}
"""The same without measures of meaning."""
ACROSS = Coefficients(Measures(0, 0, 13.7, 0, 6.1, 0, 0, 0, 0, 0), -6.11)
"""For a question and a passage in different scripts, which share no words."""


def log_odds(question: str, measures: Measures, passage: str, *, knows_meaning: bool) -> float:
    """The log-odds that there is an answer; above 0, the sentence is quoted.

    Args:
        question: Its script selects the coefficients.
        measures: The measures of the best sentence.
        passage: The passage of that sentence.
        knows_meaning: Whether the coefficients were fitted on cosines of the embedding in use.
    """
    script = script_family(question)
    if not knows_meaning:
        return BY_WORDS[script].log_odds(measures)
    if script != script_family(passage):
        return ACROSS.log_odds(measures)
    return BY_MEANING[script].log_odds(measures)
