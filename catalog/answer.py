"""Answers questions about a catalogue, and checks what the answers cite."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from catalog.composed_answer import compose
from catalog.material import Material, sources_of
from catalog.prompts import answer_messages
from chains.citations import CheckedAnswer, check_answer
from chains.markers import Piece
from chains.written_answer import WrittenAnswer
from domain import EXTRACTIVE
from services.answering import cut_short_reason
from services.storable import storable

if TYPE_CHECKING:  # slow, and opening the page does not need it
    from langchain_core.language_models import BaseChatModel

__all__ = ["CatalogueAnswerer", "Material", "Writing", "sources_of"]


@dataclass(frozen=True)
class CatalogueAnswerer:
    """Writes answers with a chat model, or without one.

    `model_label` is what answers of the model are signed with.
    """

    model: "BaseChatModel | None" = None
    model_label: str = ""

    @property
    def name(self) -> str:
        """What its answers are signed with."""
        return self.model_label if self.model else EXTRACTIVE

    def write(self, material: Material) -> "Writing":
        """An answer that nothing is written of yet."""
        return Writing(material, self.parts(material))

    def parts(self, material: Material) -> Generator[str | list[Piece], None, str]:
        """The answer as it is written, then why it is cut short.

        Parts of a model are text, its markers with their quotes; others are the pieces themselves.

        A model is not asked where there is no place to speak of. Where it writes nothing, the
        answer is the one without a model, and the notice says so. Closing this ends its stream.

        Raises:
            ModelError: The model failed, perhaps after some pieces.
        """
        if self.model is None or not material.places:
            yield from compose(material)
            return ""
        stream = cast("Generator[Any]", self.model.stream(answer_messages(material)))
        notice, is_blank = "", True
        with closing(stream):
            for piece in stream:
                if piece.text:
                    is_blank = is_blank and not piece.text.strip()
                    yield storable(piece.text)
                notice = notice or cut_short_reason(piece.response_metadata)
        if not is_blank:
            return notice
        yield from compose(material)
        return notice or f"{self.model_label} wrote nothing: this answer is put together by rules."


@dataclass
class Writing:
    """One answer being written; `notice` says why it ended before it was done, "" if it did not."""

    material: Material
    parts: Generator[str | list[Piece], None, str]
    notice: str = ""
    written: WrittenAnswer = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is written of it yet."""
        self.written = WrittenAnswer(self.material.sources)

    def texts(self) -> Generator[str, None, None]:
        """The answer's Markdown, piece by piece: markers are plain [n].

        Closing this ends what the model is still writing.

        Raises:
            ModelError: The model failed; `check` knows what was written until then.
        """
        with closing(self.parts):
            while (part := self._next()) is not None:
                if text := self._add(part):
                    yield text
        if text := self.written.close():
            yield text

    def check(self, text_of: Callable[[str], str | None]) -> CheckedAnswer:
        """What is written until now, every citation checked against the documents' texts."""
        self.written.close()
        return check_answer(self.written.pieces, self.material.sources, text_of)

    def _add(self, part: str | list[Piece]) -> str:
        """The Markdown that can be shown now."""
        return self.written.read(part) if isinstance(part, str) else self.written.take(part)

    def _next(self) -> str | list[Piece] | None:
        try:
            return next(self.parts)
        except StopIteration as end:
            self.notice = end.value or ""
            return None
