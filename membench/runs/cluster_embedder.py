"""An embedder whose work is spread over the workers of a Dask cluster."""

from collections.abc import Callable, Sequence

import numpy as np

from membench.embedding.embedder import Embedded, Embedder, EmbedderIdentity, Kind
from membench.errors import ModelError
from membench.runs import cluster_worker
from membench.runs.cluster_client import ClusterClient
from membench.runs.cluster_task import body_of
from membench.runs.cluster_worker import Done, Setup

# So few are embedded here: the way there and back takes as long.
_FEW = 4
_TASKS_A_THREAD = 3


class SpreadEmbedder:
    """An `Embedder` in the place of ``model``: the workers have the same one, which they check.

    ``note`` is told of each task that was done.
    """

    def __init__(self, model: Embedder, cluster: ClusterClient, setup: Setup, note: Callable[[Done], None]) -> None:
        self._model = model
        self._cluster = cluster
        self._setup = setup
        self._note = note

    @property
    def identity(self) -> EmbedderIdentity:
        """The model's."""
        return self._model.identity

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """One row a text, in order. Raises ModelError for what is no vector of the model's, and as a task does."""
        if len(texts) <= _FEW:
            return self._model.embed(texts, kind)
        count = min(len(texts), _TASKS_A_THREAD * max(self._cluster.threads(), 1))
        # Dealt out by length, so that all tasks take about as long.
        rows = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        tasks = [rows[start::count] for start in range(count)]
        vectors = np.empty((len(texts), self.identity.dimension), dtype=np.float32)
        tokens = np.empty(len(texts), dtype=np.int64)
        bodies = (
            (task, body_of(cluster_worker.embed, self._setup, [texts[row] for row in task], kind)) for task in tasks
        )
        for task, done in self._cluster.completed(bodies, lambda: count):
            found = done.vectors
            if found is None or found.vectors.shape != (len(task), self.identity.dimension):
                raise ModelError(
                    f"The Dask worker {done.worker} gave vectors of another shape than {len(task)} by "
                    f"{self.identity.dimension}."
                )
            vectors[task], tokens[task] = found.vectors, found.tokens
            self._note(done)
        return Embedded(vectors, tokens)
