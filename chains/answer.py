"""What an answerer is, and the one that asks a chat model."""

from typing import Any

from langchain_core.language_models import LanguageModelLike
from langchain_core.messages import BaseMessage
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from chains.history import render_history
from chains.prompts import ANSWER_PROMPT, render_sources

Answerer = Runnable[dict[str, Any], BaseMessage | str]
"""Streams an answer in message pieces (or strings).

It is given `question`, `input_documents` (the sources, numbered from 1 in that order),
`chat_history` (as in `chains.history`) and whatever else the chain was given.
"""


def answer_with_model(
    llm: LanguageModelLike, prompt: BasePromptTemplate[Any] = ANSWER_PROMPT
) -> Answerer:
    """An answerer that shows a chat model the numbered sources.

    `prompt` may use `sources`, `question`, `chat_history` and further inputs of the chain.
    """
    return RunnableLambda(_prompt_inputs, name="number_sources") | prompt | llm


def _prompt_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    rendered = {
        "sources": render_sources(inputs["input_documents"]),
        "chat_history": render_history(inputs["chat_history"]),
    }
    return {key: inputs[key] for key in inputs if key != "input_documents"} | rendered
