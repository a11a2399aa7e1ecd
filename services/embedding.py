"""The embedding of the library, for programs that have texts of their own to compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain import Principal
from errors import ConflictError
from storage.index_stores import IndexStores
from storage.indexes import Indexes

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


@dataclass(frozen=True)
class EmbeddingService:
    """Embeds as the index that answers does; before the first import, as the settings say.

    `wanted` is the settings' embedding as an index stores it, `model_wanted` the model of it, which
    nothing is loaded of before the first text.
    """

    indexes: Indexes
    stores: IndexStores
    wanted: Mapping[str, Any]
    model_wanted: "Embeddings"

    @property
    def model(self) -> str:
        """The name of the model."""
        active = self.indexes.active()
        return str((active.spec.embedding if active else self.wanted)["model"])

    def embed(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        texts: Sequence[str],
        *,
        as_questions: bool = False,
        dimensions: int | None = None,
    ) -> list[list[float]]:
        """The vectors of the texts, in their order, of length one.

        A text in a script that the model can't read gets the zero vector.

        Args:
            principal: Who asks.
            texts: None of them empty.
            as_questions: Embed them as what is searched for, not as what is found.
            dimensions: How many numbers each vector shall have.

        Raises:
            ConflictError: The vectors have another number of dimensions.
            ModelError: The model failed.
        """
        model = self._model()
        if as_questions:
            vectors = [model.embed_query(text) for text in texts]
        else:
            vectors = model.embed_documents(list(texts))
        length = len(vectors[0]) if vectors else dimensions
        if dimensions not in (None, length):
            raise ConflictError(
                f"dimensions is {dimensions}, but vectors of {self.model} have {length} numbers "
                "and are not shortened: leave it out."
            )
        return vectors

    def _model(self) -> "Embeddings":
        active = self.indexes.active()
        return self.stores.open(active).embedding if active else self.model_wanted
