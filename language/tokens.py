"""The tokens that keyword search and word overlap count."""

import re
import threading
from functools import lru_cache

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

from language.characters import CJK, CYRILLIC, HANGUL, HIRAGANA
from language.function_words import ENGLISH, KOREAN
from language.normalise import fold

_WORD = rf"[^\W_{CJK}]+"
# A run is one word, or words joined as in foo_bar, e-mail or v1.2.3. Runs of Hangul and runs of
# kana and Han are kept apart: a bigram across them would be no piece of any word.
_RUN = re.compile(
    rf"[{HANGUL}]+|[{CJK}]+|{_WORD}(?:[-_.]{_WORD})*(?:['\u2019](?:s|t|re|ve|ll|d|m)\b)?"
)
_PARTS = re.compile(_WORD)
_IS_CJK = re.compile(f"[{CJK}]")
_IS_CYRILLIC = re.compile(f"[{CYRILLIC}]")
_HIRAGANA_ONLY = re.compile(f"[{HIRAGANA}\u30fc]+")
# Longer "words" are encoded data; nobody types them in full.
_MAX_CHARS = 64

_local = threading.local()


def keyword_tokens(text: str) -> list[str]:
    """The text's search tokens in order of occurrence, repeated as often as they occur.

    Words are folded and stemmed (English for Latin script, Russian for Cyrillic), joined words
    (`foo_bar`, `e-mail`) give their parts and the whole, runs of Korean, Japanese or Chinese
    characters give their overlapping pairs, a lone character itself.
    """
    tokens: list[str] = []
    for run in _RUN.findall(fold(text)):
        tokens.extend(_tokens_of(run))
    return tokens


def content_tokens(text: str) -> list[str]:
    """The `keyword_tokens` that carry meaning, for measuring how much two texts share.

    Without English function words, Korean particles and endings, and pairs of hiragana.
    """
    return [token for token in keyword_tokens(text) if not _is_function_word(token)]


@lru_cache(maxsize=1 << 16)
def _tokens_of(run: str) -> tuple[str, ...]:
    if _IS_CJK.match(run):
        return tuple(_pairs(run))
    parts = [_stem(part[:_MAX_CHARS]) for part in _PARTS.findall(run.partition("'")[0])]
    return tuple(parts)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _stem(word: str) -> str:
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


_FUNCTION_TOKENS = frozenset(_stem(word) for word in ENGLISH) | KOREAN
