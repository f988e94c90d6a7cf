"""Stores of the real episodic memory that are closed after the test."""

from collections.abc import Callable, Iterator

import pytest

from membench.embedding.toy import ToyEmbedder
from membench.memories.catalog import build_memory


@pytest.fixture
def open_episodic() -> Iterator[Callable]:
    stores = []

    def open_store(embedder=None, **options):
        written = {name: str(value) for name, value in options.items()}
        store = build_memory("episodic", written, embedder or ToyEmbedder()).open("pool")
        stores.append(store)
        return store

    yield open_store
    for store in stores:
        store.close()
