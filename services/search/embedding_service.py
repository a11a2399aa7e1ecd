"""Embeds texts of API clients with the library's model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain import Principal
from domain.errors import InputError
from domain.messages import _
from storage.index_stores import IndexStores
from storage.ledger.index_store import Indexes

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


class WrongDimensionsError(InputError):
    """The vectors have another number of dimensions than the request."""

    param = "dimensions"


@dataclass(frozen=True)
class EmbeddingService:
    """Embeds with the model of the active index, or with the configured one before any import.

    `configured` is the embedding of the settings in the form that an index stores;
    `configured_model` is its model, loaded when it embeds the first text.
    """

    indexes: Indexes
    stores: IndexStores
    configured: Mapping[str, Any]
    configured_model: "Embeddings"

    @property
    def model(self) -> str:
        """The name of the model, in the active index or else in the settings."""
        active = self.indexes.active()
        return str((active.spec.embedding if active else self.configured)["model"])

    def embed(
        self,
        principal: Principal,  # noqa: ARG002  # unused here, but part of every call
        texts: Sequence[str],
        *,
        as_questions: bool = False,
        dimensions: int | None = None,
    ) -> list[list[float]]:
        """The normalized vectors of the texts, in order.

        A text in a script that the model does not know gets the zero vector.

        Args:
            principal: The user.
            texts: The texts, none of them empty.
            as_questions: Embed them as queries instead of as documents.
            dimensions: The expected number of dimensions.

        Raises:
            WrongDimensionsError: The vectors have a different number of dimensions.
            ModelError: The model failed.
        """
        model = self._model()
        if as_questions:
            vectors = [model.embed_query(text) for text in texts]
        else:
            vectors = model.embed_documents(list(texts))
        length = len(vectors[0]) if vectors else dimensions
        if dimensions not in (None, length):
            raise WrongDimensionsError(
                _(
                    "dimensions is {dimensions}, but the vectors of {model} have {length}"
                    " dimensions and can't be shortened: omit it."
                ).format(dimensions=dimensions, model=self.model, length=length)
            )
        return vectors

    def _model(self) -> "Embeddings":
        active = self.indexes.active()
        return self.stores.open(active).embedding if active else self.configured_model
