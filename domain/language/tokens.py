"""Tokenizes text for keyword search and for measuring word overlap."""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

from domain.language.script import CJK, CYRILLIC, HAN, HANGUL, HIRAGANA, IS_CJK, fold

# Omitted from keyword search, in passages and in questions. Measured nDCG@10 with and without them
# is .690 and .695 on scifact, and .213 and .263 on the last turns of mtrag_cloud.
_ENGLISH = """
a an the this that these those there here
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what where when why how
am is are was were be been being do does did doing have has had having
can could shall should will would may might must ought
and or but nor so yet if then else than because while although though unless until since whether
of at by for with about against between into through during before after above below
to from up in on over under again further upon within without toward towards
as not no only own same such too very just also ever even still now once
any each every either neither both all some few more most much many other another
"""
ENGLISH = frozenset(_ENGLISH.split())

ASKING = frozenset(("please", "tell", "show", "give", "explain", "let", "know"))

# Bigrams that consist only of particles and endings, and one-syllable particles, which occur
# separately after a Latin word or a number.
_KOREAN = """
은 는 이 가 을 를 의 에 와 과 도 만 로 고 나 요 다 서 께 랑 며 면 지 까 죠 네 야 여 들
에서 에게 에는 에도 에의 에만 으로 로서 로써 로는 로도 부터 까지 까요 마다 처럼 보다 한테
께서 이나 이라 라는 라고 이란 이다 이며 이고 이면 인지 인가 이에 이는 과의 와의 들은 들이
들을 들의 들에 서는 서도 서의 하는 하고 하며 하면 하여 해서 하지 하기 하게 하나 하다 한다
했다 했던 했고 하였 였다 였던 였고 되는 되고 되며 되면 되어 되지 된다 됐다 되었 었다 었던
었고 았다 았던 있는 있다 있고 있으 있습 있나 나요 었나 았나 습니 니다 니까 합니 입니 됩니
인가 가요 세요 려면 는지 는가 은지 던가 으며 으면 으나 으니 는데 은데 지만 무엇 엇인 어떻
떻게 어떤 언제 제인 어디 디인 디에 누구 구인 얼마 마인 마나 왜 몇 그리 리고 그러 러나
그런 하지 또는 또한 이런 저런 이것 그것 저것 것은 것이 것을 것인 인것 수 것 등 및 때 대해
해서 대한 관한 관하 위해 위한 통해 따라 따른 알려 려줘 려주 주세 해줘 해주
"""
KOREAN = frozenset(_KOREAN.split())


_WORD = rf"[^\W_{CJK}]+"
_JOINT = r"(?:[-_.]|(?<=\d),(?=\d{3}(?!\d)))"
# A run is one word, or joined words as in foo_bar, e-mail, v1.2.3, or 1,000. Hangul runs and runs
# of kana and Han are separate, because a bigram across them would not be part of any word.
_RUN = re.compile(
    rf"[{HANGUL}]+|[{CJK}]+|{_WORD}(?:{_JOINT}{_WORD})*(?:['\u2019](?i:s|t|re|ve|ll|d|m)\b)?"
)
_PARTS = re.compile(_WORD)
_HANGUL = re.compile(f"[{HANGUL}]")
_HAN = re.compile(f"[{HAN}]")
_IS_CYRILLIC = re.compile(f"[{CYRILLIC}]")
# A bigram with the particle would make 사원의 resemble 직원의. Shorter words may end in it: 회의.
_PARTICLE = re.compile(rf"(?<=[{HANGUL}]{{2}})[은는을를의]$")
_HIRAGANA_ONLY = re.compile(f"[{HIRAGANA}\u30fc]+")
_GRAMMAR = re.compile(rf"[{HIRAGANA}何誰幾]|^어[느디떤떻]|^누[구가]|^(?:무엇|무슨|언제|얼마|몇)")
# Longer "words" are encoded data, which nobody searches for; caching them would waste memory.
_MAX_CHARS = 64
_CACHED = 1 << 12
"""Recent words and tokens; sixteen times as many take 20 MiB more and save no measurable time."""

_local = threading.local()


def keyword_tokens(text: str) -> list[str]:
    """The text's search tokens, word by word in order, including repetitions.

    Words are folded and stemmed (English for Latin script, Russian for Cyrillic). English function
    words are omitted unless they are in capitals (IT, US). Joined words (`foo_bar`, `e-mail`)
    produce tokens for their parts and for the whole. Korean, Japanese, and Chinese produce
    character bigrams, each Han character, and the first syllable of each Korean word.
    """
    return [token for run in _runs(text) for token in _run_tokens(run)]


def words_with_tokens(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Each word of the text in NFKC, in order, with its `keyword_tokens`.

    A run of Korean, or of Japanese or Chinese, counts as one word.
    """
    return [(run, _run_tokens(run)) for run in _runs(text)]


def content_tokens(text: str) -> list[str]:
    """The `keyword_tokens` that carry meaning, for measuring the overlap of two texts.

    Omits request words, Korean particles and endings, and hiragana bigrams.
    """
    stems = (_PARTICLE.sub("", run) for run in _runs(text))
    return [token for run in stems for token in _run_tokens(run) if not _is_function_word(token)]


def subject_tokens(text: str) -> list[str]:
    """The `content_tokens` that name the subject of a text, without its grammar.

    Omits bigrams with hiragana (mostly endings) and question words (何 with its neighbors, 어디,
    누구) unless nothing else remains.
    """
    tokens = content_tokens(text)
    return [token for token in tokens if not _GRAMMAR.search(token)] or tokens


def _runs(text: str) -> list[str]:
    return _RUN.findall(unicodedata.normalize("NFKC", text))


def _run_tokens(run: str) -> tuple[str, ...]:
    return _cached_tokens(run) if len(run) <= _MAX_CHARS else _tokens_of(run)


def _tokens_of(run: str) -> tuple[str, ...]:
    if _HANGUL.match(run):
        # The first syllable matches one-syllable nouns before any particle: 약, 약을, 약은.
        return (run[0], *_pairs(run))
    if IS_CJK.match(run):
        return (*_HAN.findall(run), *_pairs(run)) if len(run) > 1 else (run,)
    return tuple(_word_tokens(run))


_cached_tokens = lru_cache(maxsize=_CACHED)(_tokens_of)


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _word_tokens(run: str) -> list[str]:
    word, _, suffix = run.replace("\u2019", "'").partition("'")
    if suffix in ("t", "T"):
        return []  # don't, can't, isn't
    parts = _PARTS.findall(word)
    tokens = [_stem(part) for part in parts if not _is_english_function_word(part)]
    if len(parts) > 1 and len(word) <= _MAX_CHARS:
        tokens.append(_stem(word.replace("-", "").replace(",", "")))
    return tokens


def _is_english_function_word(part: str) -> bool:
    is_name = len(part) > 1 and part.isupper()
    return not is_name and part.lower() in ENGLISH


def _stem(part: str) -> str:
    word = fold(part[:_MAX_CHARS])
    language = "russian" if _IS_CYRILLIC.match(word) else "english"
    stem: str = _stemmer(language).stemWord(word)
    return stem


def _stemmer(language: str) -> Stemmer.Stemmer:
    """One stemmer per thread, because PyStemmer's are not thread-safe."""
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return stemmers[language]


@lru_cache(maxsize=_CACHED)
def _is_function_word(token: str) -> bool:
    return token in _FUNCTION_TOKENS or _HIRAGANA_ONLY.fullmatch(token) is not None


_FUNCTION_TOKENS = frozenset(_stem(word) for word in ASKING) | KOREAN


def matched_words(query: str, text: str) -> list[str]:
    """The words of the text that share a search token with the query.

    Each is listed once, in NFKC, in order of first occurrence. For a Korean, Japanese, or Chinese
    run, only the matching parts are listed: 휴가 for 휴가를.
    """
    query_tokens = set(keyword_tokens(query))
    words: dict[str, None] = {}
    for word, tokens in words_with_tokens(text):
        if query_tokens.intersection(tokens):
            words.update(dict.fromkeys(_matching_parts(word, tokens, query_tokens)))
    return list(words)


def _matching_parts(word: str, tokens: tuple[str, ...], query_tokens: set[str]) -> Iterator[str]:
    """The parts of a run that its matching tokens cover; other words match as a whole."""
    if not IS_CJK.match(word):
        yield word
        return
    covered = [letter in query_tokens and letter in tokens for letter in word]
    for place, pair in enumerate(_pairs(word)):
        if pair in query_tokens:
            covered[place] = covered[place + 1] = True
    for inside, stretch in groupby(zip(covered, word, strict=True), itemgetter(0)):
        if inside:
            yield "".join(letter for _inside, letter in stretch)
