"""How a keyword index lies on disk, and how a question is put to it."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from language.tokens import keyword_tokens

if TYPE_CHECKING:
    import tantivy

MAX_QUERY_TOKENS = 1024
"""Distinct tokens of a question that are looked up, the rarest first: the time a search takes
grows with them, and the common ones of a very long question decide nothing."""


def open_index(files: Path) -> "tantivy.Index":
    """Open the index in there, or make an empty one."""
    import tantivy

    index = tantivy.Index(_schema(), path=str(files))
    index.config_reader("manual")  # else a thread of its own watches the folder
    return index


def _schema() -> "tantivy.Schema":
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("tokens", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def question_of(searcher: "tantivy.Searcher", tokens: Sequence[str]) -> "tantivy.Query | None":
    """Any of the tokens; None where no passage holds one of them."""
    from tantivy import Occur, Query

    counts = Counter(tokens)
    held = {token: searcher.doc_freq("tokens", token) for token in counts}
    known = sorted((token for token in counts if held[token]), key=held.__getitem__)
    schema = _schema()
    terms = [
        (Query.term_query(schema, "tokens", token, "freq"), counts[token])
        for token in known[:MAX_QUERY_TOKENS]
    ]
    parts = [Query.boost_query(term, count) if count > 1 else term for term, count in terms]
    return Query.boolean_query([(Occur.Should, part) for part in parts]) if parts else None


def best_hits(
    searcher: "tantivy.Searcher", question: "tantivy.Query", start: int, stop: int
) -> list[tuple[str, float]]:
    """The hits from rank `start` up to `stop`, ranks from 0; the order of equals never changes."""
    found = searcher.search(question, stop, count=False).hits[start:]
    return [(searcher.doc(address)["id"][0], score) for score, address in found]


def joined_tokens(text: str) -> str:
    """The text's tokens as the index takes them."""
    return " ".join(utf8(keyword_tokens(text)))


def utf8(tokens: Collection[str]) -> list[str]:
    """The tokens with halves of surrogate pairs replaced, which tantivy refuses."""
    return [token.encode(errors="replace").decode() for token in tokens]


def is_tantivys(error: BaseException) -> bool:
    """Damaged files make its Rust code panic, which is no `Exception` and has no name to import."""
    return isinstance(error, ValueError | OSError) or type(error).__name__ == "PanicException"
