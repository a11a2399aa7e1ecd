"""The models that come with the program, by name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from models.bert_graph import PackagedModel
from models.e5 import MultilingualE5
from models.minilm import MiniLM


class BuiltinModel(PackagedModel, Protocol):
    """What embedding with a packaged model takes."""

    query_prefix: str
    passage_prefix: str
    scripts: frozenset[str] | None
    """Those it reads (of `language.script`); None for all."""

    def __init__(self, cache_dir: Path) -> None:
        """Take where prepared files are kept; nothing is read yet."""

    def pieces(self, text: str) -> list[int]:
        """The ids of the text's first pieces, as many as the model reads."""

    def words(self, ids: list[int]) -> Mapping[str, Any]:
        """What the graph takes for these pieces."""


MODELS: Mapping[str, type[BuiltinModel]] = {one.name: one for one in (MultilingualE5, MiniLM)}
"""By name, the default first."""
