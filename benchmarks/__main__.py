"""Runs every benchmark and prints a line for each as it ends."""

import os
import platform

from benchmarks import action, bridges, embedding, process, search
from benchmarks.texts import corpus_or_sample


def main() -> None:
    """Prints what was measured, the bound that it should keep, and whether it does."""
    corpus = corpus_or_sample()
    print(f"{platform.machine()}, {os.cpu_count()} cores, corpus {corpus.key}")
    for measured in (
        *embedding.benchmarks(corpus),
        *search.benchmarks(),
        *process.benchmarks(corpus),
        *action.benchmarks(),
        *bridges.benchmarks(),
    ):
        kept = "" if measured.bound is None else ("  ok" if measured.kept else "  MISSED")
        bound = "" if measured.bound is None else f"  ({measured.bound})"
        print(f"{measured.name}: {measured.shown}{bound}{kept}", flush=True)


main()
