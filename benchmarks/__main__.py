"""Runs every benchmark and prints a line for each as it ends."""

import os
import platform
import sys
from pathlib import Path

from benchmarks import action, bridges, embedding, longmemeval, process, search
from benchmarks.texts import corpus_or_sample


def main(large: str | None = None) -> None:
    """Prints what was measured, the bound that it should keep, and whether it does.

    ``large`` is the path of LongMemEval-S; without it nothing is measured on that.
    """
    corpus = corpus_or_sample()
    print(f"{platform.machine()}, {os.cpu_count()} cores, corpus {corpus.key}")
    for measured in (
        *embedding.benchmarks(corpus),
        *search.benchmarks(),
        *process.benchmarks(corpus),
        *action.benchmarks(),
        *bridges.benchmarks(),
        *(longmemeval.benchmarks(Path(large)) if large else ()),
    ):
        kept = "" if measured.bound is None else ("  ok" if measured.kept else "  MISSED")
        bound = "" if measured.bound is None else f"  ({measured.bound})"
        print(f"{measured.name}: {measured.shown}{bound}{kept}", flush=True)


main(*sys.argv[1:])
