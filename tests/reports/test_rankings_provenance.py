"""The full ranked lists, and what varies from night to night."""

import gzip
import json
import os
import platform
from importlib.metadata import version

from membench.corpora.types import Category
from membench.reports.canonical import canonical_json
from membench.reports.provenance import Embedding, Provenance, Seconds, host, peak_memory_mb, versions
from membench.reports.rankings import packed, rankings_lines
from membench.ruler.scoring import Scored


def scored(name: str, *hits: tuple[str, tuple[str, ...], float]) -> Scored:
    return Scored(name, Category("multi-hop", 1), ("s1",), (None,), 0, (), None, None, hits)


def test_rankings_are_a_line_a_query_with_all_its_hits_best_first():
    lines = rankings_lines([scored("q1", ("s2", ("t1", "t2"), 0.12345678949), ("é", (), -0.0)), scored("q2")])
    assert lines.decode() == (
        '{"query":"q1","hits":[{"session":"s2","turns":["t1","t2"],"score":0.123456789},'
        '{"session":"é","turns":[],"score":-0.0}]}\n{"query":"q2","hits":[]}\n'
    )


def test_rankings_that_differ_in_the_last_bits_of_a_score_are_the_same_bytes():
    one, other = (rankings_lines([scored("q1", ("s1", (), score))]) for score in (0.3, 0.1 + 0.2))
    assert one == other


def test_packing_is_reproducible_and_loses_nothing():
    lines = rankings_lines([scored("q1", ("s1", ("t1",), 0.5))])
    assert packed(lines) == packed(lines)
    assert gzip.decompress(packed(lines)) == lines
    # No time of packing.
    assert packed(lines)[4:8] == b"\x00" * 4


def test_provenance_names_this_host_and_these_versions():
    provenance = Provenance(
        schema="membench.provenance/1",
        measurement_sha256="0" * 64,
        rankings_sha256="1" * 64,
        command=["membench", "retrieval", "sample"],
        started="2024-01-31T18:30:00+00:00",
        executor="local",
        resumed=0,
        shards=None,
        seconds=Seconds(run=1.5, ingest=1.0, search=0.25),
        embedding=Embedding(workers=2, cached=3, computed=4),
        source=None,
        writes=None,
        searches=None,
        peak_memory_mb=peak_memory_mb(),
        host=host(),
        versions=versions(),
    )
    written = canonical_json(provenance)
    assert Provenance.model_validate_json(written) == provenance
    found = json.loads(written)
    assert found["schema"] == "membench.provenance/1"
    assert found["host"]["cores"] == os.cpu_count()
    assert found["host"]["python"] == platform.python_version()
    for library in ("membench", "llama-cpp-python", "faiss-cpu", "numpy"):
        assert found["versions"][library] == version(library)
    assert 20 < found["peak_memory_mb"] < 100_000
