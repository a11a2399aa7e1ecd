"""Embeddings of any OpenAI-compatible server."""

from functools import cached_property
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from errors import ModelError
from models.openai_errors import NO_KEY, Endpoint, model_errors
from models.vectors import unit_vectors

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings

TEXTS_PER_REQUEST = 64
"""Servers limit the tokens of a request, often to 300,000; 64 passages stay far below."""
RETRIES = 2


class ServerEmbeddings(Embeddings):
    """Embeds through a server's /embeddings; vectors are brought to length one.

    Passages are tried again when the server is busy, as an import can wait; a question is not.
    Nothing is sent and no client imported before the first text. `prefixes` go before questions
    and before passages.

    Raises (all methods):
        ModelUnavailableError, ModelError: As `models.openai_errors.model_errors` says.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        dimensions: int | None = None,
        prefixes: tuple[str, str] = ("", ""),
    ) -> None:
        self._endpoint = endpoint
        self._query_prefix, self._passage_prefix = prefixes
        self._asked = dimensions
        self.dimensions = dimensions
        """Numbers per vector; None until the first vector tells, where it wasn't asked for."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of the texts, in their order."""
        return self._embed(self._patient, [self._passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self._embed(self._prompt, [self._query_prefix + text])[0]

    def _embed(self, client: "OpenAIEmbeddings", texts: list[str]) -> list[list[float]]:
        if not texts:
            return []
        with model_errors(self._endpoint):
            # OpenAI refuses an empty text.
            vectors = unit_vectors(client.embed_documents([text or " " for text in texts]))
        self._check(len(texts), vectors)
        return vectors

    def _check(self, wanted: int, vectors: list[list[float]]) -> None:
        length = len(vectors[0]) if vectors else 0
        self.dimensions = self.dimensions or length
        if len(vectors) != wanted or length != self.dimensions:
            raise ModelError(
                f"{self._endpoint.host} sent {len(vectors)} vectors of {length} numbers for "
                f"{wanted} texts; vectors of {self.dimensions} were expected. Check "
                f"{self._endpoint.model_setting} ({self._endpoint.model})."
            )

    @cached_property
    def _patient(self) -> "OpenAIEmbeddings":
        return self._client(RETRIES)

    @cached_property
    def _prompt(self) -> "OpenAIEmbeddings":
        return self._client(0)

    def _client(self, retries: int) -> "OpenAIEmbeddings":
        from langchain_openai import OpenAIEmbeddings
        from pydantic import SecretStr

        return OpenAIEmbeddings(
            model=self._endpoint.model,
            openai_api_base=self._endpoint.base_url,
            openai_api_key=self._endpoint.key or SecretStr(NO_KEY),
            dimensions=self._asked,
            # With it the client downloads a vocabulary and sends token numbers, which most
            # servers but OpenAI's don't understand.
            check_embedding_ctx_length=False,
            chunk_size=TEXTS_PER_REQUEST,
            request_timeout=self._endpoint.timeout_s,
            max_retries=retries,
        )
