"""What the built-in answerer does with each kind of question. Slow to import, as LangChain is."""

from collections.abc import Callable
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableBranch

from chains.answer import Answerer
from chains.condense import Condenser
from chains.document_answer import DocumentAnswerer, is_document_request
from chains.follow_ups import Idf
from chains.single_words import ask_for_definition, is_single_word
from chains.small_talk import LibraryFacts, SmallTalkAnswerer, is_small_talk
from chains.summary import Summarizer, is_summary_request
from services.scoped_documents import ScopedDocuments

Pieces = dict[str, Any]


def route_by_kind(
    chain: Runnable[Pieces, Pieces],
    condense: Condenser,
    answer: Answerer,
    idf: Idf | None,
    embeddings: Embeddings | None,
    documents: ScopedDocuments,
    library: Callable[[], LibraryFacts],
) -> Runnable[Pieces, Pieces]:
    """The chain for questions, behind what answers small talk and requests of other kinds.

    All of them stream the pieces of `ConversationalRetrievalChain`.

    Args:
        chain: Answers questions.
        condense: Makes follow-ups stand alone.
        answer: Quotes passages without a model.
        idf: The library's word statistics.
        embeddings: Those of the index that answers.
        documents: Those that may be looked into.
        library: Tells what there is to ask.
    """
    return RunnableBranch(
        (is_small_talk, SmallTalkAnswerer(library)),
        (is_document_request, DocumentAnswerer(documents, condense, answer, embeddings)),
        (is_summary_request, Summarizer(documents, condense, chain, idf)),
        (is_single_word, ask_for_definition | chain),
        chain,
    )
