"""Recognizes the questions that are answered without ranking sentences, by their whole text.

These are small talk, requests for documents, requests for a summary, and single words. Their
phrases in three languages are in TOML files next to this module.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableLambda

from chains.condensing.follow_ups import terms
from chains.history import Inputs, render_history
from domain.language.script import CJK, HAN, HANGUL, KANA, KATAKANA, Language, answer_language

_MARKS = " \t\n.,:;!?。、．：？！…\"'“”‘’「」『』"
_MAX_REQUEST_CHARS = 300

_PART_NAME = re.compile(r"%(\w+)%")


@cache
def load_phrases(name: str) -> Mapping[str, Any]:
    """The tables of `NAME.toml`."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def compile_pattern(template: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    """Compile a template to a pattern that ignores case and in which `.` matches line breaks.

    Lines are joined without the white space around them, and `%NAME%` is replaced by that part.
    """
    return re.compile(_expand(template, parts), re.IGNORECASE | re.DOTALL)


def _expand(template: str, parts: Mapping[str, str]) -> str:
    joined = "".join(map(str.strip, template.splitlines()))
    return _PART_NAME.sub(lambda name: _expand(parts[name[1]], parts), joined)


MAX_SMALL_TALK_CHARS = 120
"""Longer texts are not small talk."""


class SmallTalk(StrEnum):
    """The kinds of small talk, which are answered without searching the documents."""

    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    INTRODUCTION = "introduction"
    """A question about the program or what it can answer."""


_APOSTROPHE = re.compile(r"(?<=[a-z])['’](?=[a-z])")

_LAUGHTER = re.compile("[ㅋㅎㅠㅜ]{2,}")

_NO_WORD = re.compile(r"[\W_]+")

_PRECEDENCE = (SmallTalk.INTRODUCTION, SmallTalk.THANKS, SmallTalk.FAREWELL, SmallTalk.GREETING)


def small_talk(text: str) -> SmallTalk | None:
    """The kind of small talk if the text contains nothing else, otherwise None.

    Among several phrases ("Hi! What can you do?"), the one with the longest answer decides.
    """
    if len(text) > MAX_SMALL_TALK_CHARS:
        return None
    normal = unicodedata.normalize("NFKC", _LAUGHTER.sub(" ", text)).casefold()
    phrases = _phrases_only().fullmatch(_NO_WORD.sub(" ", _APOSTROPHE.sub("", normal)).strip())
    if phrases is None:
        return None
    groups = phrases.groupdict()
    return next(kind for kind in _PRECEDENCE if groups[kind] is not None)


@cache
def _phrases_only() -> re.Pattern[str]:
    phrases = load_phrases("small_talk")["phrases"]
    kinds = "|".join(f"(?P<{kind}>{phrases[kind]})" for kind in SmallTalk)
    # In Japanese, there is no space between two phrases.
    between = rf"\ |\Z|(?<=[{KANA}{HAN}])(?=[{KANA}{HAN}])"
    return re.compile(rf"(?:(?:{kinds})(?:{between}))+", re.VERBOSE)


def is_small_talk(inputs: Inputs) -> bool:
    """Whether `question` is small talk and no `standalone_question` replaces it."""
    return not inputs.get("standalone_question") and small_talk(inputs["question"]) is not None


class DocumentRequest(NamedTuple):
    """The topic of the documents to find; `language` is the language of the request."""

    topic: str
    language: Language


def document_request(text: str) -> DocumentRequest | None:
    """The request if the whole text is one; None for any other question."""
    normal = unicodedata.normalize("NFKC", text).strip(_MARKS)
    if len(normal) > _MAX_REQUEST_CHARS:
        return None
    for language, form in _document_forms():
        if match := form.fullmatch(normal):
            return DocumentRequest(match["topic"].strip(_MARKS), language)
    return None


@cache
def _document_forms() -> list[tuple[Language, re.Pattern[str]]]:
    phrases = load_phrases("document_search")
    return [
        (language, compile_pattern(form, phrases["parts"]))
        for language, forms in phrases["forms"].items()
        for form in forms
    ]


def is_document_request(inputs: Inputs) -> bool:
    """Whether `question` asks which documents cover a topic."""
    return document_request(inputs["question"]) is not None


_AROUND_SUBJECTS = _MARKS + "〈〉《》[]()（）*`"


class SummaryRequest(NamedTuple):
    """The subject to summarize ("" if the text only refers to it), and the request's language.

    With `only_if_named`, the text is a request only if there is a document named `subject`, because
    "What is X about?" may ask about X itself.
    """

    subject: str
    language: Language
    only_if_named: bool = False

    @property
    def asks_for_a_part(self) -> bool:
        """Whether the request is for a part of the content, unless a document has that name."""
        return _subject_pattern("part").search(self.subject) is not None


_PARTICLE = re.compile(r"(?<=[가-힣\w\"'”’」』])(?:을|를)\Z")


def summary_request(text: str) -> SummaryRequest | None:
    """The request if the whole text is one; None for any other question."""
    normal = unicodedata.normalize("NFKC", text).strip()
    if len(normal) > _MAX_REQUEST_CHARS:
        return None
    plain = normal.rstrip(_AROUND_SUBJECTS) or normal
    for form, language, only_if_named in _summary_forms():
        if match := form.fullmatch(plain):
            subject = _subject(next((part for part in match.groups() if part), ""))
            return SummaryRequest(subject, language, only_if_named)
    return None


@cache
def _summary_forms() -> list[tuple[re.Pattern[str], Language, bool]]:
    phrases = load_phrases("summary")
    return [
        (compile_pattern(form, phrases["parts"]), language, table == "forms_if_named")
        for table in ("forms", "forms_if_named")
        for language, form in phrases[table].items()
    ]


@cache
def _subject_pattern(name: str) -> re.Pattern[str]:
    return compile_pattern(load_phrases("summary")["subjects"][name], {})


def _subject(text: str) -> str:
    subject = _PARTICLE.sub("", text.strip(_AROUND_SUBJECTS)).strip(_AROUND_SUBJECTS)
    if _subject_pattern("only_points").fullmatch(subject):
        return ""
    return _subject_pattern("kind_of_document").sub("", subject).strip(_AROUND_SUBJECTS) or subject


def is_summary_request(inputs: Inputs) -> bool:
    """Whether `question` asks for a summary of a document."""
    return summary_request(inputs["question"]) is not None


_LETTERS = rf"[^\W_{CJK}]+"

_WORD = re.compile(
    rf"{_LETTERS}(?:[-_.+#/&'’]{_LETTERS})*[+#]*|[{HANGUL}]{{2,12}}|[{HAN}{KATAKANA}]{{2,16}}"
)

# After fewer than two syllables, these are part of a noun: 휴가, 병가, 회의.
_ENDING = re.compile(r"(?<=[가-힣]{2})[요다죠까니줘지야은는이가을를란]\Z")

_DEFINITION: dict[Language, str] = {
    "english": "What is {word}?",
    "korean": "{word}{topic} 무엇인가요?",
    "japanese": "{word}とは何ですか？",
}

_FIRST_SYLLABLE, _FINALS = 0xAC00, 28


def is_single_word(inputs: Inputs) -> bool:
    """Whether `question` is one word at the beginning of a conversation.

    Later in a conversation, it may be a follow-up. False if a `standalone_question` replaces it.
    """
    if inputs.get("standalone_question") or render_history(inputs.get("chat_history") or ()):
        return False
    return single_word(inputs["question"]) != ""


def single_word(text: str) -> str:
    """The noun or name without punctuation, or "" for any other text."""
    word = unicodedata.normalize("NFKC", text).strip(_MARKS + "()（）")
    is_name = any(map(str.isalpha, word)) and bool(terms(word))
    return word if is_name and _WORD.fullmatch(word) and not _ENDING.search(word) else ""


def definition_question(word: str) -> str:
    """A question that asks what the word means, in the language of the word."""
    final = (ord(word[-1]) - _FIRST_SYLLABLE) % _FINALS
    return _DEFINITION[answer_language(word.lower())].format(
        word=word, topic="이란" if final else "란"
    )


def _with_definition_question(inputs: Inputs) -> Inputs:
    return {**inputs, "standalone_question": definition_question(single_word(inputs["question"]))}


ask_for_definition = RunnableLambda(_with_definition_question)
"""Makes the chain search for a definition of the word rather than the word alone."""
