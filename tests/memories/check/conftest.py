"""A check of a memory at hand."""

import pytest

from membench.memories.check.bench import Bench
from membench.memories.check.rules import judged
from membench.memories.check.surroundings import Surroundings, own_temporary_folder


@pytest.fixture
def judge():
    """The results by name. Waits are short, so that what never comes is not waited for."""

    def of(memory, kind="python", revive=None, **settings):
        with own_temporary_folder() as temporary:
            surroundings = Surroundings(temporary, threads=True, processes=True)
            bench = Bench(memory, kind, surroundings, patience=1.0, timeout=1.0, **settings)
            return {result.name: result for result in judged(bench, revive or (lambda: memory))}

    return of
