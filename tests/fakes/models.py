"""Fast, deterministic models for tests, in which similar texts have similar vectors."""

import hashlib
import math

from langchain_core.embeddings import Embeddings

DIMENSION = 64


class HashingEmbeddings(Embeddings):
    """A bag of words, each hashed to one of 64 dimensions: shared words raise the cosine.

    `calls` and `texts` count requests, so that a test can check that nothing is embedded.
    """

    def __init__(self, dimension: int = DIMENSION):
        self.dimension = dimension
        self.calls = 0
        self.texts = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls += 1
        self.texts += len(texts)
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._embed(text)

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word in text.lower().split():
            vector[self._place(word)] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]

    def _place(self, word: str) -> int:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
        return int.from_bytes(digest, "big") % self.dimension
