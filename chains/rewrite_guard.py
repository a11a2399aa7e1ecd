"""What is searched where the rewrite of a follow-up no longer asks what was typed."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from langchain_core.documents import Document

from chains.history import render_history
from chains.terms import terms
from language.characters import HAN
from language.tokens import content_tokens

# A Japanese noun of one character, which is no term: in 冬は? it is all there is.
_LONE_HAN = re.compile(rf"(?<![{HAN}])[{HAN}](?=[はがをもの]|\W|\Z)")
_ASKING_HAN = "何"


def uncondensed(asked: Mapping[str, Any]) -> list[str]:
    """What is searched of a chain's inputs as it is; nothing where it has to be condensed first."""
    if given := asked.get("standalone_question"):
        return [given]
    return [] if render_history(asked["chat_history"]) else [asked["question"]]


def condensable(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What condensing takes of a chain's inputs."""
    return {key: asked[key] for key in ("question", "chat_history")}


def questions_to_search(typed: str, standalone: str) -> list[str]:
    """The standalone question, and the typed one beside it where all its words are lost.

    Lost are words whose stems (pairs of characters in Korean and Japanese) the standalone
    question holds none of. A question without a word of its own ("Why?") has none to lose.
    """
    words = _words(typed)
    kept = words & set(content_tokens(standalone))
    return [standalone, typed] if words and not kept else [standalone]


def as_one_question(searched: Sequence[str]) -> str:
    """What the answerer is asked: the standalone question, or the typed one (and that)."""
    standalone, *typed = searched
    return f"{typed[0]} ({standalone})" if typed else standalone


def interleave(found: Sequence[list[Document]]) -> list[Document]:
    """One list in which those given take turns, each passage once and where it stands first.

    A passage is known by its id, or its text where it has none. The result is as long as the
    longest list, so that two searches fill no more of a prompt than one.
    """
    if len(found) == 1:
        return found[0]
    by_turns = chain.from_iterable(zip_longest(*found))
    passages: dict[str, Document] = {}
    for document in filter(None, by_turns):
        passages.setdefault(document.id or document.page_content, document)
    return list(passages.values())[: max(map(len, found), default=0)]


def _words(question: str) -> set[str]:
    lone = [han for han in _LONE_HAN.findall(question) if han not in _ASKING_HAN]
    return {token for word in (*terms(question), *lone) for token in content_tokens(word)}
