"""The words of the aspects, known ones and those that a description brings, ready for finding."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from catalog import words_en, words_ja, words_ko
from catalog.folded_text import folded
from catalog.judgements import Kind, Meaning
from catalog.vocabulary import english_endings, entries, forms
from catalog.word_finder import WordFinder
from domain.catalogue import Aspect, Words

_LANGUAGES = {"en": words_en, "ko": words_ko, "ja": words_ja}
_GENERAL = {Kind.GOOD: "GOOD", Kind.BAD: "BAD", Kind.WEIGHS: "WEIGHS", Kind.NOTHING: "NOTHING"}
_KINDS = tuple(kind for kind in Kind if kind not in (Kind.WEIGHS, Kind.NOTHING))


@cache
def known_words() -> WordFinder[Meaning]:
    """The words of `domain.ASPECTS` in all languages, and those that judge anything."""
    written = list(_written())
    plain = [
        (form, meaning) for language, entry, meaning in written for form in forms(entry, language)
    ]
    as_written = {form for form, _ in plain}
    english = ((entry, meaning) for language, entry, meaning in written if language == "en")
    ended = ((form, meaning) for form, meaning in _with_endings(english) if form not in as_written)
    return WordFinder((*plain, *ended))


def own_words(aspects: Sequence[Aspect]) -> WordFinder[Meaning]:
    """The words that aspects bring themselves, in their kinds."""
    return WordFinder(
        (form, Meaning(aspect.name, kind))
        for aspect in aspects
        for words, kind in (
            (aspect.about, Kind.ABOUT),
            (aspect.good, Kind.GOOD),
            (aspect.bad, Kind.BAD),
        )
        for form in told_forms(words)
    )


def told_forms(words: Words) -> Iterator[str]:
    """The folded forms of the words that a description tells, English ones with their endings."""
    for language, told in words.items():
        for word in told:
            yield from forms_of(word, language)


def forms_of(word: str, language: str) -> Iterator[str]:
    """The folded forms of one word that nobody has marked up."""
    plain = folded(word).text.strip()
    if not plain:
        return
    for form in (plain, plain.replace(" ", "-"), plain.replace("-", " ")):
        yield form
        if language == "en":
            yield from english_endings(form)
    if language != "en":
        yield plain.replace(" ", "")


def _written() -> Iterator[tuple[str, str, Meaning]]:
    """Every entry as it is written, with its language."""
    for language, module in _LANGUAGES.items():
        for aspect, vocabulary in module.WORDS.items():
            for kind in _KINDS:
                for entry in entries(getattr(vocabulary, kind.value)):
                    yield language, entry, Meaning(aspect, kind)
        for judging, name in _GENERAL.items():
            for entry in entries(getattr(module, name)):
                yield language, entry, Meaning("", judging)


def _with_endings(written: Iterable[tuple[str, Meaning]]) -> Iterator[tuple[str, Meaning]]:
    for entry, meaning in written:
        for form in forms(entry, "en"):
            for ended in english_endings(form):
                yield ended, meaning
