"""The library's own words in place of misspelled ones in a question."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from language.characters import HANGUL, KATAKANA
from language.normalise import fold
from language.spelling import (
    Script,
    TypedWord,
    likely_beginnings,
    likely_stems,
    share_required,
    slips_allowed,
    slips_between,
    splits,
    words_to_check,
)
from language.spelling_variants import variants
from language.tokens import keyword_tokens, words_with_tokens
from storage.keyword_index import KeywordIndex

MAX_WORDS = 3
"""A question with more unknown words between spaces is in another language, not misspelled."""

_STEMS, _SPLITS, _VARIANTS = 4, 2, 2  # candidates whose passages are read
_PASSAGES = 3  # read of each candidate
_EDGES = {
    Script.SPACED: (r"\b", r"\b"),
    Script.HANGUL: (f"(?<![{HANGUL}])", ""),
    Script.KATAKANA: (f"(?<![{KATAKANA}])", f"(?![{KATAKANA}])"),
}


class _Candidate(NamedTuple):
    """A known word: by how much it differs, and in how many passages it stands."""

    slips: int
    passages: int
    word: str


@dataclass(frozen=True)
class Spelling:
    """Replaces words that no passage holds; every replacement stands in a passage like it.

    `texts` gives of passages by id what is searched of them. `allowed` decides by id which
    passages may be looked at: a word of any other would tell what it says.
    """

    keywords: KeywordIndex
    texts: Callable[[Sequence[str]], Iterable[str]]
    allowed: Callable[[str], bool] | None = None

    def correct(self, text: str) -> str:
        """The text with each misspelled word replaced by the library's own nearest word.

        A word stays as it is where the library knows it, where no known word is near, and where
        two are equally near and equally common.

        Raises:
            StorageError: The keyword index is damaged.
        """
        words = list(words_to_check(text))
        known = self._known(token for word in words for token in _tokens(word))
        unknown = [word for word in words if not known.issuperset(_tokens(word))]
        if sum(word.script is Script.SPACED for word in unknown) > MAX_WORDS:
            return text
        for word in reversed(unknown):
            if nearest := self._nearest(word):
                text = text[: word.start] + nearest + text[word.end :]
        return text

    def _known(self, tokens: Iterable[str]) -> set[str]:
        return {token for token, count in self.keywords.counts(set(tokens)).items() if count}

    def _nearest(self, word: TypedWord) -> str | None:
        if word.script is not Script.SPACED:
            return self._nearest_variant(word)
        near = self._near_words(word)
        if near and near[0].slips == 1:
            return _chosen(near)
        return self._split(word) or _chosen(near)

    def _near_words(self, word: TypedWord) -> list[_Candidate]:
        stems: dict[str, int] = {}
        for beginning in likely_beginnings(word.folded):
            stems |= self.keywords.tokens_with_prefix(beginning)
        slips = slips_allowed(word)
        likely = likely_stems(word.folded, stems, slips, _STEMS)
        found = (self._form_of(stem, word.folded, stems[stem]) for stem in likely)
        fewest = max(1, share_required(word) * len(self.keywords))
        near = [one for one in found if one and one.slips <= slips and one.passages >= fewest]
        return sorted(near, key=lambda one: (one.slips, -one.passages))

    def _form_of(self, stem: str, typed: str, count: int) -> _Candidate | None:
        """The word of that stem in passages that is nearest to the typed one."""
        forms = {
            fold(word)
            for text in self._texts_with([stem])
            for word, tokens in words_with_tokens(text)
            if tokens == (stem,)
        }
        return min(
            (_Candidate(slips_between(typed, form), count, form) for form in sorted(forms)),
            key=lambda one: (one.slips, one.word.endswith("s") != typed.endswith("s")),
            default=None,
        )

    def _split(self, word: TypedWord) -> str | None:
        """The word as two that stand side by side in a passage."""
        if word.may_be_name:
            return None
        counts = self.keywords.counts(
            {token for pair in splits(word.folded) for token in keyword_tokens(pair)}
        )
        rarest = {
            pair: min(counts[token] for token in keyword_tokens(pair))
            for pair in splits(word.folded)
            if len(keyword_tokens(pair)) == 2
        }
        best = sorted((pair for pair in rarest if rarest[pair]), key=lambda pair: -rarest[pair])
        return self._first_written(best[:_SPLITS], word.script)

    def _nearest_variant(self, word: TypedWord) -> str | None:
        made = dict.fromkeys(variants(word))
        counts = self.keywords.counts({pair for one in made for pair in _pairs(one)})
        rarest = {one: min(counts[pair] for pair in _pairs(one)) for one in made if _pairs(one)}
        best = sorted((one for one in rarest if rarest[one]), key=lambda one: -rarest[one])
        return self._first_written(best[:_VARIANTS], word.script)

    def _first_written(self, candidates: Iterable[str], script: Script) -> str | None:
        """The first that a passage holds as it is, as a word or, in Korean, at a word's start."""
        before, after = _EDGES[script]
        for candidate in candidates:
            written = re.compile(f"{before}{re.escape(candidate)}{after}")
            texts = self._texts_with(keyword_tokens(candidate))
            if any(written.search(fold(text)) for text in texts):
                return candidate
        return None

    def _texts_with(self, tokens: Sequence[str]) -> Iterable[str]:
        hits = self.keywords.search_tokens(tokens, _PASSAGES, self.allowed)
        return self.texts([id_ for id_, _ in hits])


def _tokens(word: TypedWord) -> Collection[str]:
    """What tells that a word is known: of Korean and Japanese all pairs of its characters."""
    return keyword_tokens(word.folded) if word.script is Script.SPACED else _pairs(word.folded)


def _pairs(word: str) -> list[str]:
    return [first + second for first, second in pairwise(word)]


def _chosen(near: Sequence[_Candidate]) -> str | None:
    """The nearest, unless another is equally near and equally common."""
    if len(near) > 1 and near[0][:2] == near[1][:2]:
        return None
    return near[0].word if near else None
