"""Other wordings of a question, by a chat model."""

import json
import re
from typing import Any

from langchain_core.language_models import LanguageModelLike
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from chains.prompts import REPHRASE_PROMPT
from chains.replies import whole_text

MAX_CHARS = 500
"""A longer line is no rephrasing but talk."""

# A model that was cut off leaves its reasoning open.
_REASONING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# "1. ", "2) ", "(3) ", "- ", "**4.** ", "５．", "・"; not the number of "3 days of leave?".
_BULLET = re.compile(
    r"\A[\s*_#>]*(?:\(?\d{1,2}(?:[.):][\s*_]+|[、．）]\s*)|[-+]\s[\s*_]*|[•·‣・]\s*)?"
)
_ANNOUNCES = re.compile(r"[:：][\s*_]*\Z")
_AROUND = " \t*_`,\"'“”‘’「」『』«»"
_HAS_A_WORD = re.compile(r"\w")


def rephrase_with_model(
    llm: LanguageModelLike, number: int, prompt: BasePromptTemplate[Any] = REPHRASE_PROMPT
) -> Runnable[str, list[str]]:
    """Gives at most `number` other wordings of a question; one call of the model each.

    What a model writes around them (its reasoning, numbers, quotes, an announcement, a list in
    JSON) is taken off. Fewer come, or none, where it writes fewer or repeats the question; none
    where its reply was cut short.

    Args:
        llm: Asked once per question.
        number: The most rephrasings, at least 1.
        prompt: With the variables `number` and `question`.

    Raises:
        ValueError: `number` is below 1.
    """
    if number < 1:
        raise ValueError(f"the number of rephrasings must be at least 1, got {number}")
    ask = prompt | llm | RunnableLambda(whole_text)

    def rephrase(question: str) -> list[str]:
        reply = ask.invoke({"number": number, "question": question})
        return parse_rephrasings(reply, question)[:number]

    async def rephrase_async(question: str) -> list[str]:
        reply = await ask.ainvoke({"number": number, "question": question})
        return parse_rephrasings(reply, question)[:number]

    return RunnableLambda(rephrase, rephrase_async, name="rephrase")


def parse_rephrasings(reply: str, question: str) -> list[str]:
    """The distinct wordings in a model's reply that are not the question itself, in order."""
    seen = {_folded(question)}
    kept = []
    for line in _lines(_REASONING.sub("", reply)):
        wording = _bare(line)
        if _is_wording(wording) and _folded(wording) not in seen:
            seen.add(_folded(wording))
            kept.append(wording)
    return kept


def _lines(reply: str) -> list[str]:
    """A list in JSON has its own lines."""
    try:
        parsed = json.loads(reply)
    except ValueError:
        return reply.splitlines()
    items = parsed if isinstance(parsed, list) else [parsed]
    return [" ".join(item.split()) for item in items if isinstance(item, str)]


def _bare(line: str) -> str:
    storable = line.encode(errors="replace").decode()  # a careless server sends half characters
    return _BULLET.sub("", storable).strip(_AROUND)


def _is_wording(line: str) -> bool:
    return (
        len(line) <= MAX_CHARS
        and _HAS_A_WORD.search(line) is not None
        and _ANNOUNCES.search(line) is None
    )


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
