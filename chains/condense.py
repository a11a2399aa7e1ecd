"""Follow-up questions made to stand alone, by a model or by rule."""

import re
from operator import itemgetter
from typing import Any

from langchain_core.language_models import LanguageModelLike
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableConfig,
    RunnableLambda,
    RunnablePassthrough,
)

from chains.follow_ups import Idf, salient_terms
from chains.history import render_history
from chains.leaning import leans_on_history
from chains.prompts import CONDENSE_PROMPT
from chains.replies import whole_text

Condenser = Runnable[dict[str, Any], str]
"""Makes a standalone question of `question` and `chat_history` (see `chains.history`)."""

ADDED_TERMS = 3

MAX_REWRITE_CHARS = 1_000
"""A longer rewrite, unless the follow-up is longer still, is no question but an answer."""

MARKER = re.compile(r"\[\d{1,3}[\]:]")
"""What cites something is an answer, or copied from one, and no question."""

# Cut short it has no end; some servers leave its beginning in the prompt.
REASONING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# Models like to announce the question: "**Standalone question:** ...", "질문: ...", "質問：...".
LABEL = re.compile(
    r"\A[\s*_#]*+(?:[\w-]+ ){0,3}[\w-]*(?:question|질문|質問|问题)[\s*_]*[:：][\s*_]*",
    re.IGNORECASE,
)
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "`": "`"}


def condense_with_model(
    llm: LanguageModelLike,
    prompt: BasePromptTemplate[Any] = CONDENSE_PROMPT,
    fallback: Condenser | None = None,
) -> Condenser:
    """A condenser that asks a chat model.

    What the model adds around the question (its reasoning, a label, quotes, line breaks) is
    taken off. The fallback is used where nothing is left, or so much that it is no question, or
    what cites like an answer, and where the reply was cut short.

    Args:
        llm: Asked once per follow-up.
        prompt: With the variables `chat_history` and `question`.
        fallback: Condenses where the model's reply is of no use. If None, the question as typed is
            used there, and a reply that cites is used as it is, as in the classic chain.
    """
    ask = (
        RunnableLambda(_prompt_inputs, name="render_history")
        | prompt
        | llm
        | RunnableLambda(whole_text)
    )
    tidy = RunnableLambda(_standalone, name="tidy")
    as_typed = RunnableLambda(itemgetter("question"), name="as_typed")
    rewritten = RunnableLambda(itemgetter("standalone"), name="rewritten")
    usable = _is_question if fallback else itemgetter("standalone")
    return (
        RunnablePassthrough.assign(reply=ask)
        | RunnablePassthrough.assign(standalone=tidy)
        | RunnableBranch((usable, rewritten), fallback or as_typed)
    )


class RuleCondenser(Runnable[dict[str, Any], str]):
    """Gives a follow-up that leans on the conversation the terms it leaves out.

    "And in Japan?" becomes "And in Japan? (annual leave, new employees)". A question that
    can be understood alone is left as it is. No model is asked.
    """

    def __init__(self, idf: Idf | None = None) -> None:
        """Without `idf` all terms count the same, but for how lately they were used."""
        self._idf = idf

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> str:
        """The standalone question for `question` and `chat_history`."""
        return self._call_with_config(self._condense, input, config, **kwargs)

    def _condense(self, inputs: dict[str, Any]) -> str:
        question: str = inputs["question"]
        history = inputs["chat_history"]
        if not leans_on_history(question):
            return question
        added = salient_terms(question, history, ADDED_TERMS, self._idf)
        return f"{question} ({', '.join(added)})" if added else question


def _prompt_inputs(inputs: dict[str, Any]) -> dict[str, str]:
    history = render_history(inputs["chat_history"])
    return {"question": inputs["question"], "chat_history": history}


def _standalone(inputs: dict[str, Any]) -> str:
    """The question in the model's reply, "" where there is none."""
    _, _, said = REASONING.sub("", inputs["reply"]).rpartition("</think>")
    storable = said.encode(errors="replace").decode()  # a careless server sends half characters
    question = LABEL.sub("", " ".join(storable.split()))
    while len(question) > 1 and _is_quoted(question):
        question = question[1:-1].strip()
    bound = max(MAX_REWRITE_CHARS, 2 * len(inputs["question"]))
    return question if len(question) <= bound else ""


def _is_question(inputs: dict[str, Any]) -> bool:
    cites = MARKER.search(inputs["standalone"]) and not MARKER.search(inputs["question"])
    return bool(inputs["standalone"]) and not cites


def _is_quoted(text: str) -> bool:
    """Whether one pair of quotes holds it all, unlike `"a" or "b"`."""
    closing = QUOTES.get(text[0])
    return closing is not None and text.find(closing, 1) == len(text) - 1
