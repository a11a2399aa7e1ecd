"""Corrects misspelled words of a question to words of the library."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from domain import Filter
from domain.language.script import HANGUL, KATAKANA, fold
from domain.language.spelling import (
    Script,
    TypedWord,
    likely_beginnings,
    likely_stems,
    max_typos,
    share_required,
    splits,
    typos_between,
    variants,
    words_to_check,
)
from domain.language.tokens import keyword_tokens, words_with_tokens
from storage.base_store import LexicalIndex

MAX_WORDS = 3
"""The maximum number of corrected words; more unknown words indicate another language."""

_STEMS, _SPLITS, _VARIANTS = 4, 2, 2  # maximum candidates of each kind whose passages are read
_PASSAGES = 3  # read per candidate
_COUNTED = 1_000  # passages at most, if they are searched
_EDGES = {
    Script.SPACED: (r"\b", r"\b"),
    Script.HANGUL: (f"(?<![{HANGUL}])", ""),
    Script.KATAKANA: (f"(?<![{KATAKANA}])", f"(?![{KATAKANA}])"),
}


class _Candidate(NamedTuple):
    """A word of the library, its number of typos, and the number of passages with it."""

    typos: int
    passages: int
    word: str


@dataclass(frozen=True)
class Spelling:
    """Replaces words that no passage contains with words from passages.

    `texts` returns the searchable texts of passages by id. Only passages that satisfy the condition
    are used, because a word from another passage would reveal its contents. With `hides`, others
    must not even decide whether a word is known or common, so passages are searched instead of
    counted.
    """

    words: LexicalIndex
    texts: Callable[[Sequence[str]], Iterable[str]]
    condition: Filter | None = None
    hides: bool = False

    def correct(self, text: str) -> str:
        """The text with each misspelled word replaced by the library's nearest word.

        A word is unchanged if the library contains it, if no word of the library is near, or if
        two are equally near and equally common.

        Raises:
            StorageError: The keyword index is damaged.
        """
        words = list(words_to_check(text))
        known_tokens = self._known_tokens(token for word in words for token in _tokens(word))
        misspelled = [word for word in words if not known_tokens.issuperset(_tokens(word))]
        if sum(word.script is Script.SPACED for word in misspelled) > MAX_WORDS:
            return text
        for word in reversed(misspelled):
            if nearest := self._nearest(word):
                text = text[: word.start] + nearest + text[word.end :]
        return text

    def _known_tokens(self, tokens: Iterable[str]) -> set[str]:
        return {token for token, count in self._counts(set(tokens), most=1).items() if count}

    def _counts(self, tokens: Collection[str], most: int = _COUNTED) -> Mapping[str, int]:
        """The number of passages with each token; with `hides`, of permitted ones, up to `most`."""
        if not self.hides:
            return self.words.counts(tokens)
        search = self.words.search_tokens
        return {one: len(search([one], most, self.condition)) for one in tokens}

    def _nearest(self, word: TypedWord) -> str | None:
        if word.script is not Script.SPACED:
            return self._nearest_variant(word)
        near = self._near_words(word)
        if near and near[0].typos == 1:
            return _unambiguous(near)
        return self._split(word) or _unambiguous(near)

    def _near_words(self, word: TypedWord) -> list[_Candidate]:
        stems: dict[str, int] = {}
        for beginning in likely_beginnings(word.folded):
            stems |= self.words.tokens_with_prefix(beginning)
        typos = max_typos(word)
        fewest = share_required(word) * len(self.words)
        if self.hides:
            counts = self._counts(likely_stems(word.folded, stems, typos, len(stems)))
            stems = {stem: count for stem, count in counts.items() if count}
            fewest = min(fewest, _COUNTED)
        likely = likely_stems(word.folded, stems, typos, _STEMS)
        candidates = (self._form_of(stem, word.folded, stems[stem]) for stem in likely)
        near = [
            one
            for one in candidates
            if one and one.typos <= typos and one.passages >= max(1, fewest)
        ]
        return sorted(near, key=lambda one: (one.typos, -one.passages))

    def _form_of(self, stem: str, typed: str, count: int) -> _Candidate | None:
        """The word with this stem in passages that is nearest to the typed one."""
        forms = {
            fold(word)
            for text in self._texts_with([stem])
            for word, tokens in words_with_tokens(text)
            if tokens == (stem,)
        }
        return min(
            (_Candidate(typos_between(typed, form), count, form) for form in sorted(forms)),
            key=lambda one: (one.typos, one.word.endswith("s") != typed.endswith("s")),
            default=None,
        )

    def _split(self, word: TypedWord) -> str | None:
        """The word split into two that are adjacent in a passage."""
        if word.may_be_name:
            return None
        pairs = {pair: keyword_tokens(pair) for pair in splits(word.folded)}
        both = {pair: tokens for pair, tokens in pairs.items() if len(tokens) == 2}
        return self._first_in_passages(self._commonest(both)[:_SPLITS], word.script)

    def _nearest_variant(self, word: TypedWord) -> str | None:
        candidates = {one: _pairs(one) for one in variants(word) if _pairs(one)}
        return self._first_in_passages(self._commonest(candidates)[:_VARIANTS], word.script)

    def _commonest(self, candidates: Mapping[str, Sequence[str]]) -> list[str]:
        """The candidates whose tokens all occur, those with the commonest rarest token first."""
        rarest: dict[str, int] = {}
        for counts in (self.words.counts, self._counts):  # the first is cheap, and leaves few
            numbers = counts({token for tokens in candidates.values() for token in tokens})
            rarest = {one: min(numbers[each] for each in candidates[one]) for one in candidates}
            candidates = {one: tokens for one, tokens in candidates.items() if rarest[one]}
        return sorted(candidates, key=lambda one: -rarest[one])

    def _first_in_passages(self, candidates: Iterable[str], script: Script) -> str | None:
        """The first candidate that is a word of a passage or, in Korean, the start of one."""
        before, after = _EDGES[script]
        for candidate in candidates:
            pattern = re.compile(f"{before}{re.escape(candidate)}{after}")
            texts = self._texts_with(keyword_tokens(candidate))
            if any(pattern.search(fold(text)) for text in texts):
                return candidate
        return None

    def _texts_with(self, tokens: Sequence[str]) -> Iterable[str]:
        hits = self.words.search_tokens(tokens, _PASSAGES, self.condition)
        return self.texts([id_ for id_, _ in hits])


def _tokens(word: TypedWord) -> Collection[str]:
    """Tokens that identify a word; for Korean and Japanese, all pairs of its characters."""
    return keyword_tokens(word.folded) if word.script is Script.SPACED else _pairs(word.folded)


def _pairs(word: str) -> list[str]:
    return [first + second for first, second in pairwise(word)]


def _unambiguous(near: Sequence[_Candidate]) -> str | None:
    """The nearest candidate, unless another is equally near and equally common."""
    if len(near) > 1 and near[0][:2] == near[1][:2]:
        return None
    return near[0].word if near else None
