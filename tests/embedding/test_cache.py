"""The vector cache: what it gives back, and that nothing on disk can stop a run or change a vector."""

import re
import resource
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from membench.embedding.cache import CachedVector, VectorCache, space_name, text_key
from membench.embedding.toy import ToyEmbedder

DIMENSION = 384


def entries(count: int, seed: int = 0) -> dict[bytes, CachedVector]:
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return {text_key(f"text {place}"): CachedVector(place, vector) for place, vector in enumerate(vectors)}


def filled(path: Path, count: int = 3) -> dict[bytes, CachedVector]:
    written = entries(count)
    with VectorCache(path, DIMENSION) as cache:
        cache.put(written.items())
    return written


def same(found: dict[bytes, CachedVector], expected: dict[bytes, CachedVector]) -> bool:
    return found.keys() == expected.keys() and all(
        found[key].tokens == entry.tokens and found[key].vector.tobytes() == entry.vector.tobytes()
        for key, entry in expected.items()
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors" / "space.sqlite"


def test_what_is_put_comes_back_bit_for_bit_in_the_next_run(path, caplog):
    written = filled(path, 1100)
    with VectorCache(path, DIMENSION) as cache:
        assert same(cache.get([*written, text_key("unknown")]), written)
    assert caplog.records == []


def test_what_is_put_is_visible_at_once_and_the_last_word_counts(path):
    first, second = entries(2, seed=1), entries(2, seed=2)
    with VectorCache(path, DIMENSION) as cache:
        assert cache.get(list(first)) == {}
        cache.put(first.items())
        assert same(cache.get(list(first)), first)
        cache.put(second.items())
        assert same(cache.get(list(first)), second)


def test_what_is_put_survives_a_process_that_is_killed(path):
    script = """
        import os, signal, sys
        import numpy as np
        from pathlib import Path
        from membench.embedding.cache import CachedVector, VectorCache, text_key
        cache = VectorCache(Path(sys.argv[1]), 384)
        cache.put([(text_key("kept"), CachedVector(7, np.ones(384, dtype=np.float32)))])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(path)], timeout=60)
    with VectorCache(path, DIMENSION) as cache:
        assert cache.get([text_key("kept")])[text_key("kept")].tokens == 7


def flip(path: Path, needle: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(needle) + len(needle) // 2] ^= 0x10
    path.write_bytes(content)


def test_a_flipped_byte_costs_that_row_alone(path, caplog):
    written = filled(path)
    bad, *good = written
    flip(path, written[bad].vector.tobytes())
    with VectorCache(path, DIMENSION) as cache:
        assert same(cache.get(list(written)), {key: written[key] for key in good})
        assert re.search("1 damaged vectors thrown away", caplog.text)
        cache.put([(bad, written[bad])])
    caplog.clear()
    with VectorCache(path, DIMENSION) as cache:
        assert same(cache.get(list(written)), written)
    assert caplog.records == []


@pytest.mark.parametrize(
    "damage",
    [
        "tokens = tokens + 1",
        "tokens = -1",
        "tokens = 1.5",
        "tokens = 'many'",
        "vector = substr(vector, 5)",
        "vector = 'text'",
        "vector = CAST(x'ff' AS TEXT)",
        "vector = 3",
        "checksum = checksum + 1",
        "checksum = 'none'",
    ],
)
def test_a_row_with_any_other_value_is_thrown_away(damage, path, caplog):
    written = filled(path)
    bad, *good = written
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE vectors SET {damage} WHERE text = ?", (bad,))
    connection.close()
    with VectorCache(path, DIMENSION) as cache:
        assert same(cache.get(list(written)), {key: written[key] for key in good})
    assert "damaged vectors thrown away" in caplog.text


def test_rows_of_another_width_are_thrown_away(path, caplog):
    written = filled(path)
    with VectorCache(path, DIMENSION - 1) as cache:
        assert cache.get(list(written)) == {}
    assert "3 damaged vectors thrown away" in caplog.text


@pytest.mark.parametrize(
    "content",
    [b"no database at all" * 500, b"\x00" * 10_000, b"SQLite format 3\x00" + b"\xff" * 5000, b"SQLite format 3\x00"],
    ids=["text", "zeros", "garbage header", "header only"],
)
def test_a_file_that_is_no_database_is_replaced(content, path, caplog):
    path.parent.mkdir()
    path.write_bytes(content)
    written = filled(path)
    assert "damaged" in caplog.text
    with VectorCache(path, DIMENSION) as cache:
        assert same(cache.get(list(written)), written)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_truncated_file_is_replaced(kept, path, caplog):
    written = filled(path, 400)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with VectorCache(path, DIMENSION) as cache:
        cache.get(list(written))
        cache.put(written.items())
        assert same(cache.get(list(written)), written)
    assert "damaged" in caplog.text


def test_a_table_of_other_columns_is_replaced(path, caplog):
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE vectors (text, other)")
    connection.close()
    written = filled(path)
    assert "damaged" in caplog.text
    with VectorCache(path, DIMENSION) as cache:
        assert same(cache.get(list(written)), written)


def test_damage_in_mid_run_is_noticed_and_the_cache_begun_anew(path, caplog):
    written = filled(path, 400)
    with VectorCache(path, DIMENSION) as cache:
        with path.open("rb+") as file:
            file.seek(4096)
            file.write(b"\xa5" * (path.stat().st_size - 4096))
        found = cache.get(list(written))
        assert same(found, {key: written[key] for key in found})
        assert len(found) < len(written)
        cache.put(written.items())
        assert same(cache.get(list(written)), written)
    assert "damaged" in caplog.text


@pytest.mark.parametrize("in_the_way", ["parent", "itself"])
def test_where_no_file_can_be_written_the_cache_knows_nothing_and_says_so(in_the_way, path, caplog):
    if in_the_way == "parent":
        path.parent.write_bytes(b"a file where a folder should be")
    else:
        path.mkdir(parents=True)
    with VectorCache(path, DIMENSION) as cache:
        cache.put(entries(2).items())
        assert cache.get(list(entries(2))) == {}
    assert caplog.text.count("goes on without a vector cache") == 1
    assert path.parent.is_file() or path.is_dir()


LIMITED = """
    import resource, sys
    from pathlib import Path
    from membench.embedding.cache import VectorCache
    from membench.embedding.cached import CachedEmbedder
    from membench.embedding.toy import ToyEmbedder
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    texts = [f"text {place}" for place in range(1500)]
    with VectorCache(Path(sys.argv[1]), 256) as cache:
        embedder = CachedEmbedder(ToyEmbedder(), cache)
        vectors = embedder.embed(texts, "document").vectors
    assert vectors.tobytes() == ToyEmbedder().embed(texts, "document").vectors.tobytes()
    print(embedder.tally.cached, embedder.tally.computed)
"""


def run_limited(path: Path, size: int) -> subprocess.CompletedProcess[str]:
    # Python ignores SIGXFSZ, so that a file over the limit is an error of the write: what a full disk is.
    command = [sys.executable, "-c", textwrap.dedent(LIMITED), str(path), str(size)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_disk_that_fills_up_in_mid_run_leaves_the_run_without_a_cache(path):
    limited = run_limited(path, 700_000)
    assert (limited.returncode, limited.stdout) == (0, "0 1500\n"), limited.stderr
    assert limited.stderr.count("goes on without a vector cache") == 1
    unlimited = run_limited(path, resource.RLIM_INFINITY)
    cached, computed = map(int, unlimited.stdout.split())
    assert cached + computed == 1500
    assert cached >= 256


def test_a_disk_that_is_full_from_the_start_costs_no_vector_that_is_kept(path):
    assert run_limited(path, resource.RLIM_INFINITY).stdout == "0 1500\n"
    full = run_limited(path, 1000)
    assert full.returncode == 0
    assert full.stderr.count("goes on without a vector cache") == 1
    assert run_limited(path, resource.RLIM_INFINITY).stdout == "1500 0\n"


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "llama.cpp"},
        {"sha256": "0" * 64},
        {"dimension": 8},
        {"pooling": "last"},
        {"input_window": 64},
        {"probe": "0" * 64},
    ],
    ids=str,
)
def test_what_decides_a_vector_space_names_its_file(change):
    identity = ToyEmbedder().identity
    assert space_name(replace(identity, **change)) != space_name(identity)


def test_what_a_space_is_called_and_who_built_it_do_not():
    identity = ToyEmbedder().identity
    renamed = replace(identity, key="other", build="another release", model_window=9)
    assert space_name(renamed) == space_name(identity)


def test_two_spaces_never_mix(tmp_path):
    identity = ToyEmbedder().identity
    one, other = entries(3, seed=1), entries(3, seed=2)
    for change, written in (({}, one), ({"probe": "0" * 64}, other)):
        with VectorCache(tmp_path / space_name(replace(identity, **change)), DIMENSION) as cache:
            cache.put(written.items())
    with VectorCache(tmp_path / space_name(identity), DIMENSION) as cache:
        assert same(cache.get(list(one)), one)


SHARING = """
    import sys, time
    import numpy as np
    from pathlib import Path
    from membench.embedding.cache import CachedVector, VectorCache, text_key
    time.sleep(max(float(sys.argv[3]) - time.time(), 0))
    with VectorCache(Path(sys.argv[1]), 384) as cache:
        for place in range(20):
            keys = [text_key(f"{sys.argv[2]} {place} {row}") for row in range(50)]
            cache.put((key, CachedVector(row, np.ones(384, dtype=np.float32))) for row, key in enumerate(keys))
            assert len(cache.get(keys)) == 50
"""


def test_processes_that_begin_and_fill_a_file_together_lose_nothing(path):
    begin = time.time() + 2
    command = [sys.executable, "-c", textwrap.dedent(SHARING), str(path)]
    sharing = [
        subprocess.Popen([*command, str(number), str(begin)], stderr=subprocess.PIPE, text=True) for number in range(6)
    ]
    assert [(process.communicate(timeout=60)[1], process.returncode) for process in sharing] == [("", 0)] * 6
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (6 * 20 * 50,)
    connection.close()


@pytest.mark.slow
def test_a_writer_waits_for_another_longer_than_sqlite_would(path, caplog):
    with VectorCache(path, DIMENSION) as cache, sqlite3.connect(path, check_same_thread=False) as other:
        other.execute("BEGIN IMMEDIATE")
        # SQLite's module gives up after 5 s unless told otherwise.
        threading.Timer(6.0, other.rollback).start()
        cache.put(entries(2).items())
        assert len(cache.get(list(entries(2)))) == 2
    other.close()
    assert caplog.records == []


def test_another_thread_may_use_what_one_has_opened(path, caplog):
    with VectorCache(path, DIMENSION) as cache, ThreadPoolExecutor(1) as another:
        another.submit(cache.put, entries(2).items()).result()
        assert same(another.submit(cache.get, list(entries(2))).result(), entries(2))
    assert caplog.records == []


def test_texts_that_are_no_utf8_have_keys_too():
    assert text_key("\ud800") != text_key("a")
