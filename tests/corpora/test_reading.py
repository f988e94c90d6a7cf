"""However many instances a corpus has, the memory that reading it takes is that of one."""

import gzip
import tracemalloc
from itertools import islice

import pytest

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice


@pytest.fixture(scope="module")
def lines(longmemeval_s_file):
    with gzip.open(longmemeval_s_file) as stream:
        return list(islice(stream, 24))


SHAPES = {
    "lines": b"".join,
    "packed lines": lambda lines: gzip.compress(b"".join(lines), 1),
    "array": lambda lines: b"[" + b",".join(lines) + b"]",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_reading_takes_no_more_memory_for_more_instances(shape, lines, corpus_file):
    path = corpus_file(SHAPES[shape](lines))

    def peak(instances):
        tracemalloc.start()
        corpus = open_corpus(str(path), path.parent, Reading(part=Slice(instances=instances)), "longmemeval")
        assert sum(1 for _ in corpus.instances()) == instances
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(24) < 1.5 * peak(4)
