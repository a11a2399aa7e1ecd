"""Speed of the built-in embedding: ratios first, then what they are ratios of.

Run it with `python -m benchmarks.embedding`. Times of one thread are processor times, so other
work on the machine disturbs them little; times of all cores are wall-clock times.
"""

import importlib.util
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from models.minilm import MiniLMEmbeddings, _cores, _model_folder, _tokenizer

PASSAGE_CHARS = 1000
PASSAGES = 48
ROUNDS = 2
QUESTION = "How many days of paid leave do I get in my first year?"
HANDBOOK = Path(__file__).parent.parent / "sample_documents"
TORCH = "sentence-transformers"

Embed = Callable[[list[str]], object]


def passages() -> list[str]:
    text = "\n".join(path.read_text() for path in sorted(HANDBOOK.glob("**/*.md")))
    latin = "".join(line for line in text.splitlines(keepends=True) if line.isascii())
    step = max(1, (len(latin) - PASSAGE_CHARS) // PASSAGES)
    return [latin[start : start + PASSAGE_CHARS] for start in range(0, step * PASSAGES, step)]


def one_by_one(model: MiniLMEmbeddings) -> Embed:
    return lambda texts: [model.embed_query(text) for text in texts]


def torch_model() -> Embed | None:
    if importlib.util.find_spec("sentence_transformers") is None:
        return None
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(_model_folder()), device="cpu", local_files_only=True)
    return lambda texts: model.encode(texts, batch_size=8, normalize_embeddings=True)


def rate(embed: Embed, texts: list[str], clock: Callable[[], float]) -> float:
    """Texts per second of `clock`."""
    started = clock()
    embed(texts)
    return len(texts) / (clock() - started)


def best_rates(contenders: dict[str, Embed], texts: list[str]) -> dict[str, float]:
    """Each one's best of some rounds, taken in turns so that all meet the same weather."""
    best = dict.fromkeys(contenders, 0.0)
    for _ in range(ROUNDS):
        for name, embed in contenders.items():
            best[name] = max(best[name], rate(embed, texts, time.process_time))
    return best


def best_wall_rate(embed: Embed, texts: list[str]) -> float:
    return max(rate(embed, texts, time.perf_counter) for _ in range(ROUNDS))


def milliseconds(action: Callable[[], object], times: int) -> float:
    started = time.process_time()
    for _ in range(times):
        action()
    return (time.process_time() - started) * 1000 / times


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    name = next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")
    vnni = any("vnni" in line for line in lines if line.startswith("flags"))
    return f"{name} {'with' if vnni else 'without'} VNNI"


def print_ratios(rates: dict[str, float], alone: float, together: float) -> None:
    print("Ratios of texts per second")
    for name in ("int8", "fp32"):
        if TORCH in rates:
            print(f"  {name} / {TORCH}, one thread: {rates[name] / rates[TORCH]:.2f}")
    if TORCH not in rates:
        print(
            f"  {TORCH} is not installed, so it isn't compared with. In an environment of its "
            f"own: pip install -r requirements.txt torch {TORCH}"
        )
    print(f"  int8 / fp32, one thread: {rates['int8'] / rates['fp32']:.2f}")
    print(f"  int8, {_cores()} cores / one: {together / alone:.2f}")


def print_absolute(rates: dict[str, float], together: float, built: float) -> None:
    print("Texts per second")
    for name, value in rates.items():
        print(f"  {name}, one thread: {value:.1f}")
    print(f"  int8, {_cores()} cores: {together:.1f}")
    print(f"Building the graph, the first time ever: {built:.1f} s")


def print_likeness(int8: MiniLMEmbeddings, fp32: MiniLMEmbeddings, texts: list[str]) -> None:
    first, second = (np.array(model.embed_documents(texts)) for model in (int8, fp32))
    cosines = (first * second).sum(axis=1)
    print(f"Cosine of int8 with fp32: mean {cosines.mean():.4f}, least {cosines.min():.4f}")


def main() -> None:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    texts = passages()
    tokenizer = _tokenizer(_model_folder() / "tokenizer.json")
    tokens = np.mean([len(tokenizer.encode(text).ids) for text in texts])
    with tempfile.TemporaryDirectory() as folder:
        int8 = MiniLMEmbeddings(Path(folder))
        fp32 = MiniLMEmbeddings(Path(folder), precision="fp32")
        started = time.perf_counter()
        int8.embed_query(QUESTION)
        built = time.perf_counter() - started
        fp32.embed_query(QUESTION)
        contenders = {"int8": one_by_one(int8), "fp32": one_by_one(fp32)}
        peer = torch_model()
        if peer:
            peer(texts[:2])
            contenders[TORCH] = peer
        print(f"Built-in embedding, {len(texts)} passages of {tokens:.0f} tokens on average")
        print(f"on {processor()}, {_cores()} cores\n")
        rates = best_rates(contenders, texts)
        alone = best_wall_rate(contenders["int8"], texts)
        together = best_wall_rate(int8.embed_documents, texts)
        print_ratios(rates, alone, together)
        print()
        print_absolute(rates, together, built)
        print(f"A question, int8: {milliseconds(lambda: int8.embed_query(QUESTION), 50):.1f} ms")
        print_likeness(int8, fp32, texts)


if __name__ == "__main__":
    main()
