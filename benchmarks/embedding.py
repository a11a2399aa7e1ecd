"""Speed of the built-in embedding, against sentence-transformers on torch if installed.

Single-thread figures are processor time, which other load on the machine affects little; figures
of all cores are wall-clock time.
"""

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import Report, cores
from models.builtin import BuiltinEmbeddings
from models.builtin_models import MODELS, MiniLM, _minilm_folder

PASSAGE_CHARS = 1000
ROUNDS = 2
QUESTION = "How many days of paid leave do I get in my first year?"
HANDBOOK = Path(__file__).parent.parent / "samples" / "documents"
TORCH = "sentence-transformers"
E5 = "multilingual-e5-small"
SMALL = {"passages": 2}

Embed = Callable[[list[str]], object]


def measure(*, cache: str, passages: int = 48) -> Report:
    """Graphs that are built into `cache` if missing."""
    texts = handbook_passages(passages)
    place = Path(cache)
    minilm = MiniLM(place)
    int8 = BuiltinEmbeddings(minilm, place)
    fp32 = BuiltinEmbeddings(minilm, place, precision="fp32")
    e5 = BuiltinEmbeddings(MODELS[E5](place), place)
    built = seconds(lambda: int8.embed_query(QUESTION))
    fp32.embed_query(QUESTION)
    built_e5 = seconds(lambda: e5.embed_query(QUESTION))
    contenders = {"int8": one_by_one(int8), "fp32": one_by_one(fp32), E5: one_by_one(e5)}
    peer = torch_model()
    if peer:
        peer(texts[:2])
        contenders[TORCH] = peer
    rates = best_rates(contenders, texts)
    alone = best_wall_rate(contenders["int8"], texts)
    together = best_wall_rate(int8.embed_documents, texts)
    together_e5 = best_wall_rate(e5.embed_documents, texts)
    about = f"{len(texts)} passages of {mean_tokens(texts):.0f} tokens on average, one at a time"
    report = Report("Built-in embedding", about)
    tell_ratios(report, rates, together / alone)
    for name, value in rates.items():
        report.add(f"{name}, one thread", value, "texts/s")
    report.ratio(f"int8 / {E5}, {cores()} cores", together / together_e5)
    report.add(f"int8, {cores()} cores", together, "texts/s")
    report.add(f"{E5}, {cores()} cores", together_e5, "texts/s")
    report.add("a question, int8", milliseconds(lambda: int8.embed_query(QUESTION), 50), "ms")
    report.add("building the graph (only once) and loading it", built, "s")
    report.add(f"the same for {E5}", built_e5, "s")
    report.add(f"a question, {E5}", milliseconds(lambda: e5.embed_query(QUESTION), 50), "ms")
    tell_likeness(report, int8, fp32, texts)
    return report


def handbook_passages(count: int) -> list[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(HANDBOOK.glob("**/*.md")))
    latin = "".join(line for line in text.splitlines(keepends=True) if line.isascii())
    step = max(1, (len(latin) - PASSAGE_CHARS) // count)
    return [latin[start : start + PASSAGE_CHARS] for start in range(0, step * count, step)]


def one_by_one(model: BuiltinEmbeddings) -> Embed:
    return lambda texts: [model.embed_query(text) for text in texts]


def torch_model() -> Embed | None:
    if importlib.util.find_spec("sentence_transformers") is None:
        return None
    import torch  # type: ignore[import-not-found, unused-ignore]
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found, unused-ignore]

    torch.set_num_threads(1)
    model = SentenceTransformer(str(_minilm_folder()), device="cpu", local_files_only=True)
    return lambda texts: model.encode(texts, batch_size=8, normalize_embeddings=True)


def rate(embed: Embed, texts: list[str], clock: Callable[[], float]) -> float:
    """Texts per second of `clock`."""
    started = clock()
    embed(texts)
    return len(texts) / (clock() - started)


def best_rates(contenders: dict[str, Embed], texts: list[str]) -> dict[str, float]:
    """Best of some rounds for each, in turns so that other load affects all."""
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


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def mean_tokens(texts: list[str]) -> float:
    model = MiniLM(Path("unused"))
    return float(np.mean([len(model.pieces(text)) for text in texts]))


def tell_ratios(report: Report, rates: dict[str, float], scaling: float) -> None:
    if TORCH in rates:
        for name in ("int8", "fp32"):
            report.ratio(f"{name} / {TORCH}, one thread each", rates[name] / rates[TORCH])
    else:
        report.notes.append(
            f"{TORCH} is not installed, so it isn't compared with. In an environment of its "
            f"own: pip install -r tests/requirements/dev.txt torch {TORCH}"
        )
    report.ratio("int8 / fp32, one thread", rates["int8"] / rates["fp32"])
    report.ratio(f"int8 / {E5}, one thread", rates["int8"] / rates[E5])
    report.ratio(f"int8, {cores()} cores / one", scaling)


def tell_likeness(
    report: Report, int8: BuiltinEmbeddings, fp32: BuiltinEmbeddings, texts: list[str]
) -> None:
    first, second = (np.array(model.embed_documents(texts)) for model in (int8, fp32))
    cosines = (first * second).sum(axis=1)
    report.ratio("cosine of int8 with fp32, mean", float(cosines.mean()), "")
    report.ratio("cosine of int8 with fp32, minimum", float(cosines.min()), "")
