"""The key changes exactly when what is cached does."""

import numpy as np

from membench.corpora.shards import Shard
from membench.embedding.cache import CachedVector, VectorCache, text_key
from membench.github.cache_key import cache_key

MODEL = "ab" * 32


def put(root, *texts, space="space"):
    with VectorCache(root / "vectors" / f"{space}.sqlite", 4) as cache:
        vector = np.ones(4, dtype=np.float32)
        for text in texts:
            cache.put([(text_key(text), CachedVector(3, vector))])


def test_equal_contents_have_equal_keys_in_whatever_order_they_came(tmp_path):
    put(tmp_path / "one", "a", "b", "c")
    put(tmp_path / "two", "c", "a", "b")
    assert cache_key(tmp_path / "one", MODEL) == cache_key(tmp_path / "two", MODEL)


def test_reading_it_changes_nothing(tmp_path):
    put(tmp_path, "a")
    assert cache_key(tmp_path, MODEL) == cache_key(tmp_path, MODEL)


def test_every_kind_of_content_is_in_it(tmp_path):
    keys = [cache_key(tmp_path, MODEL), cache_key(tmp_path, None)]
    put(tmp_path, "a")
    keys.append(cache_key(tmp_path, MODEL))
    put(tmp_path, "b")
    keys.append(cache_key(tmp_path, MODEL))
    put(tmp_path, "a", space="another")
    keys.append(cache_key(tmp_path, MODEL))
    for folder in ("models", "corpora"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text("x")
        keys.append(cache_key(tmp_path, MODEL))
    assert len(set(keys)) == len(keys)


def test_a_damaged_file_of_vectors_is_as_good_as_empty(tmp_path):
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "space.sqlite").write_bytes(b"no database" * 100)
    assert cache_key(tmp_path, None).startswith("membench-")
    (tmp_path / "vectors" / "space.sqlite").write_bytes(b"")
    assert cache_key(tmp_path, None).startswith("membench-")


def test_the_key_of_a_shard_begins_as_no_other_does(tmp_path):
    put(tmp_path, "a")
    whole, shard = cache_key(tmp_path, MODEL), cache_key(tmp_path, MODEL, Shard(1, 4))
    assert shard == whole.replace("membench-", "membench.shard-1-of-4-")
    assert len({whole, shard, cache_key(tmp_path, MODEL, Shard(1, 40)), cache_key(tmp_path, MODEL, Shard(2, 4))}) == 4


def test_the_key_is_one_that_actions_cache_takes(tmp_path):
    put(tmp_path, "a")
    key = cache_key(tmp_path, MODEL)
    assert key.startswith("membench-")
    assert "abababababababab" in key
    assert "," not in key
    assert len(key) <= 512
