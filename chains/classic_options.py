"""Options and methods of LangChain's classic chain: how prompts name documents, and replacements.

docs/migration.md has the whole table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import BasePromptTemplate, PromptTemplate, format_document

_REPLACEMENTS = {
    "memory": "keep the turns, and pass them as `chat_history` with each question",
    "verbose": "call langchain_core.globals.set_debug(True), which prints every prompt and reply",
    "callback_manager": "use `callbacks`",
    "chain_type": 'only "stuff" exists; limit the documents with `max_tokens_limit`, or pass a'
    " Runnable that answers from `input_documents` as `answer`",
    "combine_docs_chain": "pass a Runnable that answers from `input_documents` as `answer`, or use"
    " from_llm with `combine_docs_chain_kwargs`",
    "question_generator": "pass a Runnable that returns the standalone question as `condense`, or"
    " use from_llm with `condense_question_prompt`",
    "output_key": 'the answer is under "answer"; rename it with a Runnable after the chain',
    "include_run_info": 'set the "run_id" in the config of the call',
    "run": 'use chain.invoke(inputs)["answer"]',
    "arun": 'use (await chain.ainvoke(inputs))["answer"]',
    "acall": "use chain.ainvoke(inputs)",
    "apply": "use chain.batch(list_of_inputs)",
    "save": "build the chain in code",
    "__call__": "use chain.invoke(inputs)",
}
"""What to use instead of each option or method that does not exist."""

_WITHOUT_EFFECT = {
    "verbose": False,
    "include_run_info": False,
    "chain_type": "stuff",
    "output_key": "answer",
}
"""Values that ask for what the chain does anyway; None always does."""


def replacement_of(name: str) -> str:
    """The message for an option or method of the classic chain; "" if it is not one of those."""
    replacement = _REPLACEMENTS.get(name)
    if replacement is None:
        return ""
    return (
        f"ConversationalRetrievalChain has no `{name}`: {replacement}."
        " docs/migration.md compares it with the classic chain."
    )


def supported(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those of the classic chain that ask for what happens anyway.

    Raises:
        TypeError: An option does not exist; the message names the replacement.
    """
    for name, value in options.items():
        message = replacement_of(name)
        if message and value is not None and value != _WITHOUT_EFFECT.get(name):
            raise TypeError(message)
    return {name: value for name, value in options.items() if name not in _REPLACEMENTS}


@dataclass(frozen=True, kw_only=True)
class StuffedDocuments:
    """The classic `combine_docs_chain_kwargs`: a prompt, and how it contains the documents."""

    prompt: BasePromptTemplate[Any]
    document_prompt: BasePromptTemplate[Any] = field(
        default_factory=partial(PromptTemplate.from_template, "{page_content}")
    )
    document_separator: str = "\n\n"
    document_variable_name: str = "context"

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "StuffedDocuments":
        """The value with these fields.

        Raises:
            TypeError: An option is not a field, or there is no `prompt`.
        """
        fields = cls.__dataclass_fields__
        unknown = ", ".join(f"`{name}`" for name in options if name not in fields)
        if unknown or "prompt" not in options:
            problem = f"do not include {unknown}" if unknown else "need a `prompt`"
            raise TypeError(
                f"combine_docs_chain_kwargs {problem}: they may be {', '.join(fields)}."
                " docs/migration.md explains them."
            )
        return cls(**options)

    def render(self, documents: Sequence[Document]) -> str:
        """The text of the documents, best first."""
        texts = (format_document(document, self.document_prompt) for document in documents)
        return self.document_separator.join(texts)
