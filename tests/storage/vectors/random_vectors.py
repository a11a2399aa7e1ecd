"""An embedding whose texts say their own vectors, so that a test decides what is near."""

import numpy as np
from langchain_core.embeddings import Embeddings


class SpokenVectors(Embeddings):
    """The text `"1 0.5 -2 | any words"` has the vector [1, 0.5, -2]."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(number) for number in text.split("|")[0].split()]


def spoken(vector, words=""):
    return " ".join(repr(float(np.float32(value))) for value in vector) + " | " + words
