"""Nothing that a memory is given tells the answer."""

import re

import pytest
from ruled import measure

from membench.corpora.corpus import Reading, open_corpus
from membench.corpora.selection import Slice
from membench.errors import MemoryCallError
from membench.ruler.arm import Arm
from membench.ruler.observer import Silent


def test_a_memory_never_sees_an_id_of_the_corpus(longmemeval_s_file, tmp_path, memory_that):
    corpus = open_corpus(str(longmemeval_s_file), tmp_path, Reading(part=Slice(instances=3)), "longmemeval")
    memory = memory_that()
    measure(corpus, [Arm(memory, granularity=size) for size in ("turn", "chunk", "session")], None, Silent())
    given = {*memory.pools, *(name for unit in memory.units for name in (unit.id, unit.session))}
    assert all(re.fullmatch(r"p[1-3]([us][0-9]+)?", name) for name in given)
    ids = {instance.id for instance in corpus.instances()}
    ids |= {session.id for instance in corpus.instances() for session in instance.sessions}
    assert any(name.startswith("answer_") for name in ids)
    assert given.isdisjoint(ids)


def test_an_error_still_names_the_instance(corpus, memory_that):
    def refuse():
        raise RuntimeError("no room")

    with pytest.raises(MemoryCallError, match="opening a store for instance i1"):
        measure(corpus, [Arm(memory_that(opening=refuse))], None, Silent())
