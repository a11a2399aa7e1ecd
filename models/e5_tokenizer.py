"""The tokenizer of multilingual-e5-small, as SentencePiece reads it."""

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from errors import ConfigError

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

BEGIN, PADDING, END, UNKNOWN = 0, 1, 2, 3


class E5Tokenizer:
    """Cuts texts into the pieces that the model was trained on."""

    def __init__(self, processor: "SentencePieceProcessor", max_tokens: int) -> None:
        self._processor = processor
        self._max_tokens = max_tokens

    def encode(self, text: str) -> list[int]:
        """The ids of the text's first pieces, at most `max_tokens` with beginning and end."""
        pieces: list[int] = self._processor.encode(plain_text(text))
        return [BEGIN, *pieces[: self._max_tokens - 2], END]


def plain_text(text: str) -> str:
    """The text as the model was trained on it: NFKC, with single blanks."""
    # The library knows NFKC only as a compiled table.
    return " ".join(unicodedata.normalize("NFKC", text.replace("\0", " ")).split())


def load_file(file: Path) -> "SentencePieceProcessor":
    """The tokenizer in a file that `serialized` made.

    Raises:
        ConfigError: The file is damaged.
    """
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor()
    try:
        processor.LoadFromFile(str(file))
    except (OSError, RuntimeError) as error:
        raise damaged(file) from error
    return processor


def load(model: bytes) -> "SentencePieceProcessor":
    """The tokenizer that `serialized` made."""
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=model)


def damaged(file: Path) -> ConfigError:
    """What to raise for a prepared file that can't be read."""
    return ConfigError(
        f"The prepared tokenizer {file} is damaged. Delete the file; it is built again at the next "
        "start."
    )


def serialized(vocabulary: Iterable[tuple[str, float]]) -> bytes:
    """The unigram model of these pieces with their log probabilities, as SentencePiece loads it."""
    # Made of a descriptor as it is imported, so that nothing static knows its names.
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
