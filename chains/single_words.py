"""A single word in place of a question: most likely it asks what the word means."""

import re
import unicodedata
from typing import Any

from langchain_core.runnables import RunnableLambda

from chains.history import render_history
from chains.terms import terms
from language.answer_language import Language, answer_language
from language.characters import CJK, HAN, HANGUL, KATAKANA

_JOINED = rf"[^\W_{CJK}]+"
_WORD = re.compile(
    rf"{_JOINED}(?:[-_.+#/&'’]{_JOINED})*[+#]*|[{HANGUL}]{{2,12}}|[{HAN}{KATAKANA}]{{2,16}}"
)
_OUTER = " \t\n.,:;!?。、．：？！…\"'“”‘’「」『』()（）"
# Of two syllables they end a noun: 휴가, 병가, 회의.
_ENDING = re.compile(r"(?<=[가-힣]{2})[요다죠까니줘지야은는이가을를란]\Z")
_DEFINITION: dict[Language, str] = {
    "english": "What is {word}?",
    "korean": "{word}{topic} 무엇인가요?",
    "japanese": "{word}とは何ですか？",
}
_FIRST_SYLLABLE, _FINALS = 0xAC00, 28

Inputs = dict[str, Any]


def is_single_word(inputs: Inputs) -> bool:
    """Whether `question` is but one word, and begins a conversation: later it may be a follow-up.

    Not where another question is to be searched in its place.
    """
    if inputs.get("standalone_question") or render_history(inputs.get("chat_history") or ()):
        return False
    return single_word(inputs["question"]) != ""


def single_word(text: str) -> str:
    """The one noun or name that the text is, without punctuation; "" where it is anything else."""
    word = unicodedata.normalize("NFKC", text).strip(_OUTER)
    is_name = any(map(str.isalpha, word)) and bool(terms(word))
    return word if is_name and _WORD.fullmatch(word) and not _ENDING.search(word) else ""


def definition_question(word: str) -> str:
    """The question what the word means, in its own language."""
    final = (ord(word[-1]) - _FIRST_SYLLABLE) % _FINALS
    return _DEFINITION[answer_language(word.lower())].format(
        word=word, topic="이란" if final else "란"
    )


def _with_definition_question(inputs: Inputs) -> Inputs:
    return {**inputs, "standalone_question": definition_question(single_word(inputs["question"]))}


ask_for_definition = RunnableLambda(_with_definition_question)
"""Has the definition of the word that `question` is searched in place of the word alone."""
