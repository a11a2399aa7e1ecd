"""Handles a single word in place of a question, which most likely asks what the word means."""

import re
import unicodedata
from typing import Any

from langchain_core.runnables import RunnableLambda

from chains.condensing.question_terms import terms
from chains.history import render_history
from domain.language.script import CJK, HAN, HANGUL, KATAKANA, Language, answer_language

_JOINED = rf"[^\W_{CJK}]+"
_WORD = re.compile(
    rf"{_JOINED}(?:[-_.+#/&'’]{_JOINED})*[+#]*|[{HANGUL}]{{2,12}}|[{HAN}{KATAKANA}]{{2,16}}"
)
_OUTER = " \t\n.,:;!?。、．：？！…\"'“”‘’「」『』()（）"
# After fewer than two syllables, these are part of a noun: 휴가, 병가, 회의.
_ENDING = re.compile(r"(?<=[가-힣]{2})[요다죠까니줘지야은는이가을를란]\Z")
_DEFINITION: dict[Language, str] = {
    "english": "What is {word}?",
    "korean": "{word}{topic} 무엇인가요?",
    "japanese": "{word}とは何ですか？",
}
_FIRST_SYLLABLE, _FINALS = 0xAC00, 28

Inputs = dict[str, Any]


def is_single_word(inputs: Inputs) -> bool:
    """Whether `question` is one word at the beginning of a conversation.

    Later in a conversation, it may be a follow-up. False if a `standalone_question` replaces it.
    """
    if inputs.get("standalone_question") or render_history(inputs.get("chat_history") or ()):
        return False
    return single_word(inputs["question"]) != ""


def single_word(text: str) -> str:
    """The noun or name without punctuation, or "" for any other text."""
    word = unicodedata.normalize("NFKC", text).strip(_OUTER)
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
