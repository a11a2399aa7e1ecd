"""History and passages within a number of tokens."""

import math
import re
from collections.abc import Callable, Sequence

from langchain_core.documents import Document

from chains.history import History, Said, render_history, turns

TokenCounter = Callable[[str], int]
"""How many tokens a text is to the model that will read it."""

LETTERS = re.compile(r"[A-Za-z\s]")
WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\U0003ffff]")  # Hangul, kana, Han, emoji


def estimate_tokens(text: str) -> int:
    """Tokens that a text takes in a current model's vocabulary, estimated without one.

    Four Latin letters or spaces make a token, two characters of other alphabets, digits or
    punctuation, one of Korean, Japanese or Chinese. Against o200k_base that is 17 % to 26 %
    too many over English, Korean and Japanese articles, so a budget errs on the safe side.
    Older vocabularies need more: cl100k_base a third more for Korean.
    """
    letters = len(LETTERS.findall(text))
    wide = len(WIDE.findall(text))
    return math.ceil(letters / 4 + (len(text) - letters - wide) / 2 + wide)


def fit_history(
    history: History, max_tokens: int | None, count: TokenCounter = estimate_tokens
) -> list[Said]:
    """The newest whole turns that take at most `max_tokens` when rendered, oldest first.

    The oldest turns go first. A last turn that is too long by itself leaves nothing.
    """
    kept: list[Said] = []
    if max_tokens is None:
        return list(history)
    for turn in reversed(turns(history)):
        if count(render_history([*turn, *kept])) > max_tokens:
            break
        kept = [*turn, *kept]
    return kept


def fit_documents(
    documents: Sequence[Document], max_tokens: int | None, count: TokenCounter = estimate_tokens
) -> list[Document]:
    """The leading documents whose texts together take at most `max_tokens`.

    They come best first, so the last go first; possibly all of them. Only their text counts:
    titles and the prompt's own words come on top.
    """
    if max_tokens is None:
        return list(documents)
    kept: list[Document] = []
    left = max_tokens
    for document in documents:
        left -= count(document.page_content)
        if left < 0:
            break
        kept.append(document)
    return kept
