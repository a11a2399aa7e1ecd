"""An embedding whose texts contain their vectors, so that tests control the distances."""

import numpy as np
from langchain_core.embeddings import Embeddings


class TextVectors(Embeddings):
    """The text `"1 0.5 -2 | any words"` has the vector [1, 0.5, -2]."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(number) for number in text.split("|")[0].split()]


def as_text(vector, words=""):
    return " ".join(repr(float(np.float32(value))) for value in vector) + " | " + words
