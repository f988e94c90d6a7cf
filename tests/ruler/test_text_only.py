"""A memory that gives back texts instead of ids is measured as well as one that gives back ids."""

import pytest
from ruled import measure

from membench.embedding.cached import CachedEmbedder
from membench.embedding.toy import ToyEmbedder
from membench.memories.catalog import build_memory
from membench.memories.protocol import Hit
from membench.ruler.arm import Arm
from membench.ruler.fragments import GRANULARITIES
from membench.ruler.observer import Silent


class TextOnly:
    """Another memory, its hits without their ids: the text that the memory gives, or the one that it was given."""

    def __init__(self, inner):
        self.inner = inner

    def describe(self):
        return self.inner.describe()

    def open(self, pool):
        return TextOnlyStore(self.inner.open(pool))


class TextOnlyStore:
    def __init__(self, inner):
        self.inner = inner
        self.texts = {}

    def write(self, units):
        self.texts.update((unit.id, unit.text) for unit in units)
        return self.inner.write(units)

    def search(self, query, limit, as_of):
        hits = self.inner.search(query, limit, as_of)
        return [Hit(hit.score, text=self.texts[hit.unit] if hit.text is None else hit.text) for hit in hits]

    def close(self):
        self.inner.close()


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("name", ["episodic", "bm25"])
def test_its_ranks_are_those_by_id(name, granularity, locomo_corpus):
    embedder = CachedEmbedder(ToyEmbedder(), None)
    memory = build_memory(name, {}, embedder)
    arms = [
        Arm(memory, granularity=granularity, chunk_size=500),
        Arm(TextOnly(memory), granularity=granularity, chunk_size=500),
    ]
    by_id, by_text = measure(locomo_corpus, arms, embedder, Silent())
    assert len(by_id.queries) == locomo_corpus.survey.scorable
    assert by_text.queries == by_id.queries
    assert by_text.accounting == by_id.accounting
    assert by_id.accounting.unattributed_hits == 0


def test_its_ranks_are_those_by_id_where_texts_differ_in_blanks_alone(corpus_of, document, memory_that):
    first, second, third = document["instances"][0]["sessions"]
    first["turns"][0]["text"], second["turns"][0]["text"], third["turns"][0]["text"] = "Same.", " Same. ", "Same."
    by_id = memory_that()
    by_text = memory_that(searching=lambda units, query: [Hit(-float(n), text=u.text) for n, u in enumerate(units)])
    results = measure(corpus_of(document), [Arm(by_id), Arm(by_text)], None, Silent())
    assert results[1].queries == results[0].queries
    assert results[1].accounting == results[0].accounting
