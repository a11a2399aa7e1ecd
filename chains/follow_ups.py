"""Whether a question leans on the conversation before it, and on which of its terms."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from chains.history import History, last_answer, questions
from language.characters import CJK, HAN, HANGUL, KATAKANA
from language.sentences import split_sentences
from language.tokens import content_tokens

Idf = Callable[[Sequence[str]], Mapping[str, float]]
"""How rare each token is in the library; a token it leaves out does not count."""

Key = frozenset[str]
"""The tokens of a word: what it is the same as, however written."""

FRAGMENT_TERMS = 2  # "Red Hat OpenShift?" may be a question, "data volume" leans on the last
OPENED_TERMS = 3  # "And for new employees in Japan?"
MAX_TERM_CHARS = 40  # what is longer is encoded data, or Chinese without a break
RECENCY = 0.5  # what a term counts a turn earlier
ANSWER_WEIGHT = 0.25  # what a term of the answer counts, against one of the question
REPEATED = 2.0  # how much more a term counts that the last answer takes up

_JOINED = rf"[^\W_{CJK}]+"
WORD = re.compile(rf"{_JOINED}(?:[-_.'’]{_JOINED})*|[{HANGUL}]{{2,}}|[{HAN}{KATAKANA}]{{2,}}")
# Only the particles that end few nouns: 가 or 의 would behead 휴가 and 회의.
PARTICLE = re.compile(r"(?<=[가-힣]{2})(?:에서|에게|으로|까지|부터)?(?:은|는|을|를)?$")
KOREAN_PREDICATE = r"(?:나요|까요|니까|니다|세요|어요|아요|해요|가요|예요|에요|이요|[죠다줘]|는지)"
# Words of the talk itself: rare in documents, and so they would look salient.
TALK = (
    r"able|cannot|different|excuse|get|happens?|hello|hi|know|like|meant?|means|need|no|ok|okay"
    r"|sorry|sure|take|thanks?|think|try|tried|trying|understand|understanding|use|using|want"
    r"|word|work|yes"
)
NOT_A_TERM = re.compile(
    rf"(?i:{TALK})|[가-힣]*{KOREAN_PREDICATE}|그[거것건게걸럼런]\w*|이[거것건걸]\w*|며칠\w*|얼마\w*"
    r"|왜요?|누[가구]\w*|언제\w*|어디\w*|어떻게\w*|무[엇슨]\w*|[何幾].*"
)

POINTS_BACK = re.compile(
    r"""
    \b(?-i:[Ii]t)\b
      (?!\ (?:possible|necessary|mandatory|required|allowed|safe|worth)\ (?:to|that|\w+ing)\b)
    | \b(?:its|they|them|their|those|these|this|he|she|his|her|him|both)\b
    | \b(?:which|another|other|same)\ ones?\b | \bones?\W*$ | \b(?:here|there)\W*$
    | (?<![가-힣])(?:그거|그것|그건|그게|그걸|그때|그곳|그쪽|그분|그중|거기|이거|이것|이건|이걸
        |그럼|그러면|그렇다면|그런|그렇게|이런|둘\ 다|해당|방금|아까|[그이]\ (?=[가-힣]))
    | それ(?!ぞれ) | その | そこ | そちら | そんな | これ(?!から) | この | こちら | こんな
    | 両方 | 同じ | 同様 | 前述 | 上記 | 先ほど
    """,
    re.IGNORECASE | re.VERBOSE,
)
OPENS_LIKE_A_FOLLOW_UP = re.compile(
    r"\W*(?:(?:and|or|then|so|but|also|ok|okay|(?:what|how)\ about|same\ for)\b"
    r"|그리고|그런데|또|じゃあ?|では|で、|そして|また|ちなみに|なら)",
    re.IGNORECASE,
)
HAS_A_PREDICATE = re.compile(
    r"\b(?:what|how|why|when|where|who|which|is|are|am|was|were|do|does|did|has|have|had|can"
    r"|could|should|will|would|may|might|must|i|explain|tell|show|describe|list|use)\b"
    rf"|(?:{KOREAN_PREDICATE}|려면|방법은)\W*$"
    r"|(?:です|ます|ません|ました|でした|でしょう|ください|[かるたいうくす])[かねよの]{0,3}\W*$",
    re.IGNORECASE,
)
# Bounded, or a text of opening brackets alone would take minutes.
SOURCE_NUMBER = re.compile(r"[\[［【]\s?[\d０-９][^\]］】]{0,500}[\]］】]")


def terms(text: str) -> list[str]:
    """The words that carry meaning, as written, in order of occurrence.

    Korean words come without the commoner particles; of Japanese the runs of kanji and
    katakana count.
    """
    normal = unicodedata.normalize("NFKC", text)
    return [normal[start:end] for start, end in _term_spans(normal)]


def leans_on_history(question: str) -> bool:
    """Whether the question can't be understood, or searched for, alone.

    It can't where it has no term, points back, opens like a follow-up and is short, or is but
    a word or two without a verb.
    """
    number = len(terms(question))
    return (
        number == 0
        or POINTS_BACK.search(question) is not None
        or (number <= OPENED_TERMS and OPENS_LIKE_A_FOLLOW_UP.match(question) is not None)
        or (number <= FRAGMENT_TERMS and HAS_A_PREDICATE.search(question) is None)
    )


def salient_terms(question: str, history: History, limit: int, idf: Idf | None = None) -> list[str]:
    """The terms of the conversation that the question most likely leaves out.

    They come from the person's earlier questions, the newer the better, and from the first
    sentence of the last answer where that keeps to their subject. Terms already in the
    question are left out, and with `idf` those that it does not know.

    Returns:
        At most `limit` words, those that stood together as one phrase; the newest first.
    """
    answer = SOURCE_NUMBER.sub(" ", last_answer(history))
    weighted = _weighted_texts(questions(history), answer)
    weights: dict[Key, float] = defaultdict(float)
    for text, weight in weighted:
        # In their order: of equal weights the first wins, in every process.
        for key in dict.fromkeys(map(_key, terms(text))):
            weights[key] += weight
    in_question, in_answer = _key(question), _key(answer)
    rarity = _rarity(weights, idf)
    scores = {
        key: weight * rarity[key] * (REPEATED if key <= in_answer else 1)
        for key, weight in weights.items()
        if rarity[key] > 0 and not key <= in_question
    }
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:limit]
    return _as_phrases(best, [text for text, _ in weighted])


def _term_spans(text: str) -> list[tuple[int, int]]:
    found = (match for match in WORD.finditer(text) if not NOT_A_TERM.fullmatch(match[0]))
    spans = [(match.start(), match.start() + len(PARTICLE.sub("", match[0]))) for match in found]
    return [
        (start, end)
        for start, end in spans
        if end - start <= MAX_TERM_CHARS and content_tokens(text[start:end])
    ]


def _key(text: str) -> Key:
    return frozenset(content_tokens(text))


def _weighted_texts(asked: Sequence[str], answer: str) -> list[tuple[str, float]]:
    """An answer that shares no term with the questions is an apology or off their subject."""
    weighted = [(text, RECENCY**age) for age, text in enumerate(reversed(asked))]
    sentences = split_sentences(answer)
    first = answer[slice(*sentences[0])] if sentences else ""
    if _key(first) & _key(" ".join(asked)):
        weighted.append((first, ANSWER_WEIGHT))
    return weighted


def _rarity(keys: Mapping[Key, float], idf: Idf | None) -> dict[Key, float]:
    if idf is None:
        return dict.fromkeys(keys, 1.0)
    known = idf(sorted({token for key in keys for token in key}))
    return {key: max(known.get(token, 0.0) for token in key) for key in keys}


def _as_phrases(keys: Iterable[Key], texts: Iterable[str]) -> list[str]:
    """Each key as it is first written, together with its neighbours among them."""
    wanted = set(keys)
    phrases: list[str] = []
    for text in texts:
        normal = unicodedata.normalize("NFKC", text)
        last_end = None
        for start, end in _term_spans(normal):
            key = _key(normal[start:end])
            if key not in wanted:
                continue
            wanted.remove(key)
            if last_end is not None and normal[last_end:start] in ("", " "):
                phrases[-1] += normal[last_end:end]
            else:
                phrases.append(normal[start:end])
            last_end = end
    return phrases
