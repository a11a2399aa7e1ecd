"""The tokens that keyword search and word overlap count."""

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import pairwise

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

from language.characters import CJK, CYRILLIC, HAN, HANGUL, HIRAGANA
from language.function_words import ASKING, ENGLISH, KOREAN
from language.normalise import fold

_WORD = rf"[^\W_{CJK}]+"
_JOINT = r"(?:[-_.]|(?<=\d),(?=\d{3}(?!\d)))"
# A run is one word, or words joined as in foo_bar, e-mail, v1.2.3 or 1,000. Runs of Hangul and
# runs of kana and Han are kept apart: a pair across them would be no piece of any word.
_RUN = re.compile(
    rf"[{HANGUL}]+|[{CJK}]+|{_WORD}(?:{_JOINT}{_WORD})*(?:['\u2019](?i:s|t|re|ve|ll|d|m)\b)?"
)
_PARTS = re.compile(_WORD)
_HANGUL = re.compile(f"[{HANGUL}]")
_HAN = re.compile(f"[{HAN}]")
_IS_CJK = re.compile(f"[{CJK}]")
_IS_CYRILLIC = re.compile(f"[{CYRILLIC}]")
# A pair with the particle would make 사원의 resemble 직원의. Shorter words may end in it: 회의.
_PARTICLE = re.compile(rf"(?<=[{HANGUL}]{{2}})[은는을를의]$")
_HIRAGANA_ONLY = re.compile(f"[{HIRAGANA}\u30fc]+")
_GRAMMAR = re.compile(rf"[{HIRAGANA}何誰幾]|^어[느디떤떻]|^누[구가]|^(?:무엇|무슨|언제|얼마|몇)")
# Longer "words" are encoded data: nobody types them in full, and caching them costs memory.
_MAX_CHARS = 64

_local = threading.local()


def keyword_tokens(text: str) -> list[str]:
    """The text's search tokens, word by word in order, repeated as often as they occur.

    Words are folded and stemmed (English for Latin script, Russian for Cyrillic) and English
    function words left out, unless written in capitals (IT, US); joined words (`foo_bar`,
    `e-mail`) give their parts and the whole. Korean, Japanese and Chinese give overlapping
    pairs of characters, besides each Han character and the first of each Korean word.
    """
    return [token for run in _runs(text) for token in _run_tokens(run)]


def words_with_tokens(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Each word of the text in NFKC, in order, with its `keyword_tokens`.

    A run of Korean, or of Japanese or Chinese, is one word.
    """
    return [(run, _run_tokens(run)) for run in _runs(text)]


def content_tokens(text: str) -> list[str]:
    """The `keyword_tokens` that carry meaning, for measuring how much two texts share.

    Without words of asking, Korean particles and endings, and pairs of hiragana.
    """
    stems = (_PARTICLE.sub("", run) for run in _runs(text))
    return [token for run in stems for token in _run_tokens(run) if not _is_function_word(token)]


def telling_tokens(text: str) -> list[str]:
    """The `content_tokens` that say what a text is about, and none of its grammar.

    Without pairs that hold hiragana (an ending, mostly) and without what only asks: 何 with its
    neighbors, 어디, 누구. Where nothing else is left, all content tokens.
    """
    tokens = content_tokens(text)
    return [token for token in tokens if not _GRAMMAR.search(token)] or tokens


def _runs(text: str) -> list[str]:
    return _RUN.findall(unicodedata.normalize("NFKC", text))


def _run_tokens(run: str) -> tuple[str, ...]:
    return _cached_tokens(run) if len(run) <= _MAX_CHARS else _tokens_of(run)


def _tokens_of(run: str) -> tuple[str, ...]:
    if _HANGUL.match(run):
        # The first syllable finds nouns of one syllable before any particle: 약, 약을, 약은.
        return (run[0], *_pairs(run))
    if _IS_CJK.match(run):
        return (*_HAN.findall(run), *_pairs(run)) if len(run) > 1 else (run,)
    return tuple(_word_tokens(run))


_cached_tokens = lru_cache(maxsize=1 << 16)(_tokens_of)


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
    """One stemmer per thread: PyStemmer's are not safe to share."""
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return stemmers[language]


@lru_cache(maxsize=1 << 16)
def _is_function_word(token: str) -> bool:
    return token in _FUNCTION_TOKENS or _HIRAGANA_ONLY.fullmatch(token) is not None


_FUNCTION_TOKENS = frozenset(_stem(word) for word in ASKING) | KOREAN
