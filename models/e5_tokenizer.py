"""The weights and the SentencePiece tokenizer of multilingual-e5-small, from one file."""

import hashlib
import mmap
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domain.errors import ConfigError
from domain.messages import _
from models.model_files import check_sha256, unknown_model

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

    from models.bert_graph import Weights


WIDTH, INNER_WIDTH = 384, 1536
_HEADER_BYTES = 44
_SPECIAL_IDS_BYTES = 16  # the ids of beginning, end, padding, and unknown
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
    """The file, mapped into memory: only the parts that are read take up memory."""

    def __init__(self, path: Path, sha256: str) -> None:
        """Map the file and read its directory.

        Raises:
            ConfigError: The file is missing or not the pinned one.
        """
        try:
            with path.open("rb") as file:
                # Not through the map, where everything that was read would take up memory.
                checksum = hashlib.file_digest(file, "sha256").hexdigest()
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: the file is empty
            raise unknown_model(path, str(error)) from error
        check_sha256(path, checksum, sha256)
        self._data = memoryview(data)
        self._at = _HEADER_BYTES
        self._vocabulary = self._read_vocabulary()
        self._tensors = dict(self._read_directory())
        self._words = self._blocks(_WORDS).reshape(-1, _ROW_BYTES)

    def vocabulary(self, ids: Iterable[int] | None = None) -> list[tuple[str, float]]:
        """The pieces with these ids (None: all, ordered by id) and their log probabilities."""
        ends, scores, blob = self._vocabulary
        chosen = range(len(scores)) if ids is None else ids
        return [
            (bytes(blob[ends[id_] : ends[id_ + 1]]).decode(), float(scores[id_])) for id_ in chosen
        ]

    def least_probable(self, start: int) -> int:
        """The id of the least probable piece among the ids from `start` on."""
        _, scores, _ = self._vocabulary
        return start + int(np.argmin(scores[start:]))

    def word_vectors(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of these pieces, one per row."""
        rows = self._words[np.array(ids)]
        return _dequantize(rows.reshape(-1, _BLOCK_BYTES)).reshape(-1, WIDTH)

    def weights(self, layers: int) -> "Weights":
        """All tensors except the word vectors, with the names and shapes of BertModel."""
        names = _EMBEDDINGS | {
            f"l{layer}.{part}.{kind}": f"encoder.layer.{layer}.{_PARTS[part]}.{_KINDS[kind]}"
            for layer in range(layers)
            for part in _PARTS
            for kind in _KINDS
        }
        return {name: self._tensor(stored).reshape(_shape(name)) for stored, name in names.items()}

    def _read_vocabulary(self) -> tuple[NDArray[np.uint32], NDArray[np.float32], memoryview]:
        """The pieces' end offsets after a leading 0, log probabilities, and joined bytes."""
        (count,) = self._unpack("<i")
        self._at += _SPECIAL_IDS_BYTES
        (length,) = self._unpack("<Q")
        ends = np.frombuffer(self._take(4 * (count + 1)), "<u4")
        scores = np.frombuffer(self._take(4 * count), "<f4")
        return ends, scores, self._take(length)

    def _read_directory(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """Each tensor's name with its type (0: float32, 1: Q4_0), offset, and size in bytes."""
        _, length = self._unpack("<iI")
        self._at += length  # skip the normalization map: `plain_text` applies NFKC instead
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
        return _dequantize(self._blocks(name)).ravel()

    def _blocks(self, name: str) -> NDArray[np.uint8]:
        _, offset, size = self._tensors[name]
        return np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, _BLOCK_BYTES)

    def _unpack(self, form: str) -> tuple[int, ...]:
        return struct.unpack(form, self._take(struct.calcsize(form)))

    def _take(self, length: int) -> memoryview:
        self._at += length
        return self._data[self._at - length : self._at]


def _dequantize(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
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


BEGIN, PADDING, END, UNKNOWN = 0, 1, 2, 3


def encode(tokenizer: "SentencePieceProcessor", text: str, max_tokens: int) -> list[int]:
    """The ids of the text's first pieces, at most `max_tokens` including beginning and end."""
    pieces: list[int] = tokenizer.encode(plain_text(text))
    return [BEGIN, *pieces[: max_tokens - 2], END]


def plain_text(text: str) -> str:
    """The text in the form that the model was trained on: NFKC, with single spaces."""
    # SentencePiece supports NFKC only through a compiled table.
    return " ".join(unicodedata.normalize("NFKC", text.replace("\0", " ")).split())


def load_file(file: Path) -> "SentencePieceProcessor":
    """Load the tokenizer from a file that `serialized` created.

    Raises:
        ConfigError: The file is damaged.
    """
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor()
    try:
        processor.LoadFromFile(str(file))
    except (OSError, RuntimeError) as error:
        raise damage_error(file) from error
    return processor


def damage_error(file: Path) -> ConfigError:
    """The error for a prepared file that can't be read."""
    return ConfigError(
        _(
            "The prepared tokenizer {file} is damaged. Delete the file: the next start rebuilds it."
        ).format(file=file)
    )


def serialized(vocabulary: Iterable[tuple[str, float]]) -> bytes:
    """A unigram model of pieces and their log probabilities, in SentencePiece's format."""
    # The module is generated from a descriptor on import, so type checkers don't know its names.
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

    kinds = dict.fromkeys((BEGIN, PADDING, END), ModelProto.SentencePiece.CONTROL)
    kinds[UNKNOWN] = ModelProto.SentencePiece.UNKNOWN
    model = ModelProto()
    for id_, (piece, score) in enumerate(vocabulary):
        kind = kinds.get(id_, ModelProto.SentencePiece.NORMAL)
        model.pieces.add(piece=piece, score=score, type=kind)
    special = model.trainer_spec
    special.bos_id, special.pad_id, special.eos_id, special.unk_id = BEGIN, PADDING, END, UNKNOWN
    model.normalizer_spec.name = "identity"
    data: bytes = model.SerializeToString()
    return data


_LONGEST_PIECE = 16
_ENTRY = np.dtype([("hash", "<u8"), ("id", "<i4")])
_CHECKSUM_BYTES = 4
_BLANK = "▁"
"""Represents a space in pieces."""


class ShortTextTokenizer:
    """Splits a text like the full tokenizer, with a hundredth of its loading time and memory.

    The result depends only on the pieces that occur in the text, and on the lowest probability of
    all, which determines the cost of an unknown letter. So for each text, SentencePiece gets a
    model of only these pieces, which takes less than a millisecond for a question.
    """

    def __init__(self, index: Path, file: E5File, max_tokens: int) -> None:
        """Read the index that `write_index` created from the same file.

        Raises:
            ConfigError: The index is damaged.
        """
        data = memoryview(index.read_bytes())
        entries, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
        if _checksum(entries) != checksum:
            raise damage_error(index)
        self._entries = np.frombuffer(entries, _ENTRY)
        self._file = file
        self._always = [*range(UNKNOWN + 1), file.least_probable(UNKNOWN + 1)]
        self._max_tokens = max_tokens

    def encode(self, text: str) -> list[int]:
        """The ids of the text's first pieces, at most `max_tokens` including beginning and end."""
        from sentencepiece import SentencePieceProcessor

        plain = plain_text(text)
        ids = self._always + self._occurring(_BLANK + plain.replace(" ", _BLANK))
        tokenizer = SentencePieceProcessor(model_proto=serialized(self._file.vocabulary(ids)))
        return [ids[place] for place in encode(tokenizer, plain, self._max_tokens)]

    def _occurring(self, text: str) -> list[int]:
        """The ids of all pieces that occur in the text, and possibly some that don't."""
        stretches = {
            text[start : start + length]
            for start in range(len(text))
            for length in range(1, _LONGEST_PIECE + 1)
        }
        hashes = np.fromiter(map(_hash, stretches), "<u8", len(stretches))
        places = np.searchsorted(self._entries["hash"], hashes)
        near = self._entries[np.minimum(places, len(self._entries) - 1)]
        found = set(near["id"][near["hash"] == hashes].tolist())
        return sorted(found - set(self._always))


def write_index(path: Path, pieces: Iterable[str]) -> None:
    """Write the index for `ShortTextTokenizer`; the id of a piece is its position in `pieces`."""
    entries = np.array([(_hash(piece), id_) for id_, piece in enumerate(pieces)], _ENTRY)
    data = np.sort(entries, order="hash").tobytes()
    path.write_bytes(data + _checksum(data))


def _hash(piece: str) -> int:
    return int.from_bytes(blake2b(piece.encode(), digest_size=8).digest(), "little")


def _checksum(data: bytes | memoryview) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "little")
