"""Rephrases a question with a chat model."""

import json
import re
from typing import Any

from langchain_core.language_models import LanguageModelLike
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from chains.chat_prompts import REASONING, REPHRASE_PROMPT, complete_text, sanitize

MAX_CHARS = 500
"""The maximum length of a rephrasing; longer lines are explanations."""

# "1. ", "2) ", "(3) ", "- ", "**4.** ", "５．", "・"; not the number of "3 days of leave?".
_BULLET = re.compile(
    r"\A[\s*_#>]*(?:\(?\d{1,2}(?:[.):][\s*_]+|[、．）]\s*)|[-+]\s[\s*_]*|[•·‣・]\s*)?"
)
_INTRODUCES = re.compile(r"[:：][\s*_]*\Z")
_AROUND = " \t*_`,\"'“”‘’「」『』«»"
_HAS_A_WORD = re.compile(r"\w")


def rephrase_with_model(
    llm: LanguageModelLike, number: int, prompt: BasePromptTemplate[Any] = REPHRASE_PROMPT
) -> Runnable[str, list[str]]:
    """Returns at most `number` rephrasings of a question, with one model call per question.

    Everything around them (reasoning, numbering, quotes, an introduction, JSON) is stripped. Fewer
    are returned if the model writes fewer or repeats the question, none if its reply was cut off.

    Args:
        llm: Called once per question.
        number: The maximum number of rephrasings, at least 1.
        prompt: Has the variables `number` and `question`.

    Raises:
        ValueError: `number` is below 1.
    """
    if number < 1:
        raise ValueError(f"the number of rephrasings must be at least 1, got {number}")
    ask = prompt | llm | RunnableLambda(complete_text)

    def rephrase(question: str) -> list[str]:
        reply = ask.invoke({"number": number, "question": question})
        return parse_rephrasings(reply, question)[:number]

    return RunnableLambda(rephrase)


def parse_rephrasings(reply: str, question: str) -> list[str]:
    """The distinct rephrasings in a model's reply, in order, except the question itself."""
    seen = {_fold(question)}
    wordings = []
    for line in _lines(REASONING.sub("", reply)):
        wording = _unwrap(line)
        if _is_wording(wording) and _fold(wording) not in seen:
            seen.add(_fold(wording))
            wordings.append(wording)
    return wordings


def _lines(reply: str) -> list[str]:
    """The lines of the reply, or the items of a JSON list."""
    try:
        parsed = json.loads(reply)
    except ValueError:
        return reply.splitlines()
    items = parsed if isinstance(parsed, list) else [parsed]
    return [" ".join(item.split()) for item in items if isinstance(item, str)]


def _unwrap(line: str) -> str:
    return _BULLET.sub("", sanitize(line)).strip(_AROUND)


def _is_wording(line: str) -> bool:
    return (
        len(line) <= MAX_CHARS
        and _HAS_A_WORD.search(line) is not None
        and _INTRODUCES.search(line) is None
    )


def _fold(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
