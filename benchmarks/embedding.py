"""The embedder against a bare loop over llama-cpp-python calls, in turns, with as many cores in use."""

import os
from collections.abc import Iterator
from statistics import median
from threading import Thread
from time import perf_counter

from llama_cpp import Llama

from benchmarks.result import Result
from benchmarks.texts import turn_texts
from membench.corpora.corpus import Corpus
from membench.embedding.catalog import DEFAULT_MODEL, MODELS
from membench.embedding.choice import EmbedderChoice, load_embedder
from membench.embedding.store import verified_model
from membench.files.paths import cache_root

_TEXTS = 600
_ROUNDS = 5
_AT_LEAST = 0.95


def benchmarks(corpus: Corpus) -> Iterator[Result]:
    """The ratio of the two rates, on the turns of ``corpus``."""
    every = turn_texts(corpus)
    texts = every[:: max(len(every) // _TEXTS, 1)][:_TEXTS]
    yield over_bare_loop("embedding rate over that of a bare loop", texts, _ROUNDS)


def over_bare_loop(name: str, texts: list[str], rounds: int) -> Result:
    """Our rate over the bare loop's, the median of ``rounds`` taken in turns."""
    cores = os.cpu_count() or 1
    path = str(verified_model(MODELS[DEFAULT_MODEL], cache_root()))
    bare = [
        Llama(path, embedding=True, n_ctx=512, n_batch=512, n_ubatch=512, n_threads=1, n_threads_batch=1, verbose=False)
        for _ in range(cores)
    ]
    ratios, seconds = [], []
    with load_embedder(EmbedderChoice(), cache_root(), cores) as ours:
        tokens = sum(min(len(ours.tokens(text)), 512) for text in texts)
        for _ in range(rounds):
            loop = _seconds_of_loop(bare, texts)
            begun = perf_counter()
            ours.embed(texts, "document")
            seconds.append(perf_counter() - begun)
            ratios.append(loop / seconds[-1])
    spent = median(seconds)
    return Result(
        f"{name}, median of rounds",
        f"{median(ratios):.2f} ({len(texts) / spent:.0f} texts/s, {tokens / spent:.0f} tokens/s)",
        f"at least {_AT_LEAST}",
        median(ratios) >= _AT_LEAST,
    )


def _seconds_of_loop(models: list[Llama], texts: list[str]) -> float:
    """Each model in a thread of its own takes the next text as soon as it is free."""
    remaining = iter(texts)

    def work(model: Llama) -> None:
        for text in remaining:
            model.embed(text)

    threads = [Thread(target=work, args=(model,)) for model in models]
    begun = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - begun
