"""The large corpora from the command line: LongMemEval, the shared pool, shards, a killed run."""

import json
import signal
import time

import pytest

from membench.reports.measurement import Measurement
from membench.reports.provenance import Provenance

BM25 = ("retrieval", "sample", "--instances", "3", "--memory", "bm25")

REFUSED = {
    "shard beyond the last": ((*BM25, "--shard", "5/4"), 2, ["--shard 5/4", "expected I/N"]),
    "shard that is none": ((*BM25, "--shard", "half"), 2, ["--shard half", "expected I/N"]),
    "more shards than instances": ((*BM25, "--shard", "1/4"), 2, ["4 shards of 3 instances"]),
    "shard of a shared pool": (
        (*BM25, "--shard", "1/2", "--pool", "shared"),
        2,
        ["one store for all", "--executor dask"],
    ),
    "unknown pool": ((*BM25, "--pool", "common"), 2, ["common", "shared"]),
    "window that is no number": (("retrieval", "sample", "--input-window", "many"), 2, ["--input-window many", "full"]),
    "window of nothing": (("retrieval", "sample", "--input-window", "0"), 2, ["--input-window 0"]),
    "window for a memory without an embedder": ((*BM25, "--input-window", "64"), 2, ["uses no embedder"]),
    "dask without a scheduler": ((*BM25, "--executor", "dask"), 2, ["Add --scheduler"]),
    "scheduler without dask": ((*BM25, "--scheduler", "tcp://127.0.0.1:1"), 2, ["Add --executor dask"]),
    "merging nothing": (("merge",), 2, ["SHARDS"]),
    "merging what is not there": (("merge", "absent.json"), 1, ["absent.json"]),
    "merging a folder without shards": (("merge", "."), 2, ["holds no shard"]),
}


def test_what_is_asked_for_wrongly_is_refused(membench):
    found = membench.all([arguments for arguments, _, _ in REFUSED.values()])
    for (name, (_, code, said)), finished in zip(REFUSED.items(), found, strict=True):
        assert finished.returncode == code, (name, finished.stderr)
        for words in said:
            assert words in finished.stderr, (name, finished.stderr)
    assert membench.reports() == []


@pytest.fixture(scope="module")
def shards(new_command):
    """The command; the whole measured, and two shards of it."""
    command = new_command()
    whole = command(*BM25, "--report-dir", "whole")
    assert whole.returncode == 0, whole.stderr
    one, other = command.all([(*BM25, "--shard", "1/2"), (*BM25, "--shard", "2/2", "--json")])
    assert (one.returncode, other.returncode) == (0, 0), one.stderr + other.stderr
    return command, one, other


def test_a_shard_writes_one_file_and_says_what_is_in_it(shards):
    command, one, other = shards
    names = [f"sample.now.instances-3.bm25.shard-{number}-of-2.json" for number in (1, 2)]
    assert [name for name in command.reports() if "shard" in name] == names
    assert "shard 1/2: 1 of 3 instances" in one.stdout or "shard 1/2: 2 of 3 instances" in one.stdout
    assert "membench merge reports" in one.stdout
    (shown,) = json.loads(other.stdout)
    assert (shown["shard"], shown["arm"], shown["resumed"]) == ("2/2", "sample.now.instances-3.bm25", 0)
    assert shown["file"] == f"reports/{names[1]}"


def test_merged_they_are_what_one_command_writes(shards):
    command, _, _ = shards
    done = command("merge", "reports", "--report-dir", "merged")
    assert done.returncode == 0, done.stderr
    assert "session recall_all" in done.stdout
    for suffix in ("json", "rankings.jsonl.gz"):
        name = f"sample.now.instances-3.bm25.{suffix}"
        assert (command.folder / "merged" / name).read_bytes() == (command.folder / "whole" / name).read_bytes()
    shown = json.loads(command("merge", "reports", "--report-dir", "again", "--json").stdout)
    assert [one["stem"] for one in shown] == ["sample.now.instances-3.bm25"]


def test_a_shard_that_is_missing_or_given_twice_is_named(shards):
    command, _, _ = shards
    first = "reports/sample.now.instances-3.bm25.shard-1-of-2.json"
    missing, twice = command.all([("merge", first, "--report-dir", "none"), ("merge", first, first, "reports")])
    assert (missing.returncode, twice.returncode) == (2, 2)
    assert "shard 2/2 missing" in missing.stderr
    assert "shard 1/2 is given 3 times" in twice.stderr
    assert command.reports("none") == []


def test_the_quirks_of_longmemeval_are_accounted_for(membench, longmemeval_s_file):
    done = membench("retrieval", longmemeval_s_file, "--format", "longmemeval", "--instances", "12", "--memory", "bm25")
    assert done.returncode == 0, done.stderr
    found = Measurement.model_validate_json((membench.folder / "reports" / membench.reports()[0]).read_bytes())
    assert found.corpus.instances == found.counts.scored == 12
    assert found.accounting.attempted == found.corpus.turns - found.corpus.quirks.blank_turns
    assert found.metrics.session.recall_any["5"].value > 0.8


def test_the_oracle_is_refused_in_own_pools_and_measured_in_a_shared_one(membench, oracle_file):
    asked = ("retrieval", oracle_file, "--format", "longmemeval", "--memory", "bm25", "--instances", "40")
    own, shared = membench.all([asked, (*asked, "--pool", "shared")])
    assert own.returncode == 1
    assert "--pool shared" in own.stderr and "longmemeval_s" in own.stderr
    assert shared.returncode == 0, shared.stderr
    (name,) = [name for name in membench.reports() if name.endswith("bm25.json")]
    assert name == "own_longmemeval_oracle.now.instances-40.pool-shared.bm25.json"
    counts = Measurement.model_validate_json((membench.folder / "reports" / name).read_bytes()).accounting.shared
    assert counts.session_references >= counts.session_ids >= counts.session_texts > 40
    assert counts.rows == counts.units_accepted == counts.units_accepted - counts.writes_collapsed


def test_a_killed_command_goes_on_where_it_was(membench):
    whole = ("retrieval", "sample", "--timeline", "now", "--timeline", "anchored", "--memory", "bm25")
    running = membench.start(*whole)
    unfinished = membench.cache / "unfinished"
    deadline = time.monotonic() + 60
    while not (unfinished.is_dir() and any(path.stat().st_size > 20_000 for path in unfinished.iterdir())):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert membench.reports() == []
    again = membench(*whole)
    assert again.returncode == 0, again.stderr
    assert "finished before" in again.stdout
    anew = membench(*whole, "--no-resume", "--report-dir", "anew")
    assert "finished before" not in anew.stdout
    for name in membench.reports():
        if name.endswith((".json", ".gz")) and ".provenance." not in name:
            first, second = (membench.folder / folder / name for folder in ("reports", "anew"))
            assert first.read_bytes() == second.read_bytes()
    provenance = (membench.folder / "reports" / "sample.now.bm25.provenance.json").read_bytes()
    assert Provenance.model_validate_json(provenance).resumed > 0
