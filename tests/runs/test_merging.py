"""Shards, merged: the bytes of one machine, or a refusal that names what is missing, double or unlike."""

import hashlib
import json
from pathlib import Path

import pytest

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.corpora.shards import Shard
from membench.errors import MembenchError, ReportError, UsageError
from membench.reports.canonical import canonical_json
from membench.reports.provenance import Provenance
from membench.reports.shard import ShardBody
from membench.ruler.observer import Silent
from membench.runs.merging import run_merge
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval, run_shard

READING = Reading(part=Slice(instances=5))


def request(**asked):
    return Request(
        **{"corpus": "sample", "reading": READING, "memory": "bm25", "timelines": ("now", "anchored")} | asked
    )


def whole(folder: Path, **asked) -> dict[str, bytes]:
    run_retrieval(
        request(**asked), root=folder / "cache", report_dir=folder, command=[], observer_for=lambda *_: Silent()
    )
    return measured(folder)


def shard(folder: Path, number: int, of: int, **asked) -> list[Path]:
    outcomes = run_shard(
        request(**asked),
        Shard(number, of),
        root=folder / "cache",
        report_dir=folder / f"{number}",
        observer_for=lambda *_: Silent(),
    )
    return [outcome.path for outcome in outcomes]


def measured(folder: Path) -> dict[str, bytes]:
    """Everything that may not differ; the report ends in what varies."""
    files = {path.name: path.read_bytes() for path in folder.glob("*.*") if ".provenance." not in path.name}
    return {
        name: body.split(b"## How long")[0].rstrip() if name.endswith(".md") else body for name, body in files.items()
    }


def merged(paths, folder: Path) -> dict[str, bytes]:
    run_merge(paths, report_dir=folder, command=["membench", "merge"])
    return measured(folder)


@pytest.fixture(scope="module")
def one_machine(tmp_path_factory) -> dict[str, bytes]:
    return whole(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> list[Path]:
    """Both arms in three shards."""
    folder = tmp_path_factory.mktemp("three")
    return [path for number in (1, 2, 3) for path in shard(folder, number, 3)]


def test_merged_shards_are_what_one_machine_measures(one_machine, three, tmp_path):
    assert len(three) == 6
    assert merged(three, tmp_path / "forward") == one_machine
    assert merged(three[::-1], tmp_path / "backward") == one_machine


@pytest.mark.parametrize("of", [1, 2, 5])
def test_any_number_of_shards_comes_to_the_same_bytes(of, one_machine, tmp_path):
    paths = [path for number in range(1, of + 1) for path in shard(tmp_path, number, of)]
    assert merged(paths, tmp_path / "merged") == one_machine


def test_a_folder_stands_for_the_shards_in_it(one_machine, three, tmp_path):
    assert merged([three[0].parents[1]], tmp_path) == one_machine


@pytest.mark.parametrize(
    "asked",
    [
        {"memory": "episodic", "toy": True, "memory_options": {"dedup_threshold": "0.5"}},
        {"granularity": "session"},
        {"granularity": "chunk", "reading": Reading(roles="user", part=Slice(instances=5, queries=70))},
    ],
)
def test_other_arms_too(asked, tmp_path):
    paths = [path for number in (1, 2) for path in shard(tmp_path, number, 2, **asked)]
    assert merged(paths, tmp_path / "merged") == whole(tmp_path / "whole", **asked)


def test_provenance_keeps_every_shards(three, tmp_path):
    outcomes = run_merge(three, report_dir=tmp_path, command=["membench", "merge"])
    found = Provenance.model_validate_json((tmp_path / f"{outcomes[0].stem}.provenance.json").read_bytes())
    assert [run.shard for run in found.shards] == ["1/3", "2/3", "3/3"]
    assert found.seconds.run == pytest.approx(sum(run.seconds.run for run in found.shards))
    assert found.executor == "merged"


def refused(paths, folder: Path, error: type[MembenchError] = UsageError) -> str:
    with pytest.raises(error) as raised:
        run_merge(paths, report_dir=folder, command=[])
    assert not list(folder.iterdir())
    return raised.value.what


def test_a_missing_shard_is_named(three, tmp_path):
    now = [path for path in three if ".now." in path.name]
    assert refused(now[:2], tmp_path) == "these shards cannot be merged: sample.now.instances-5.bm25: shard 3/3 missing"
    assert "shards 1/3, 2/3 missing" in refused(now[2:], tmp_path)
    anchored = [path for path in three if ".anchored." in path.name]
    assert "sample.anchored.instances-5.bm25: shard 2/3 missing" in refused([*now, *anchored[::2]], tmp_path)


def test_a_shard_that_is_given_twice_is_named(three, tmp_path):
    message = refused([*three, three[0]], tmp_path)
    assert f"shard 1/3 is given 2 times: {three[0]}, {three[0]}" in message


def test_shards_of_another_number_of_shards_are_named(three, tmp_path):
    other = shard(tmp_path / "other", 2, 2)[0]
    (tmp_path / "out").mkdir()
    message = refused([three[0], other], tmp_path / "out")
    assert "are of unlike numbers of shards" in message and str(other) in message


def altered(path: Path, folder: Path, change) -> Path:
    """``path`` as a membench that had measured otherwise would have written it."""
    document = json.loads(path.read_bytes())
    change(document["body"])
    body = ShardBody.model_validate_json(json.dumps(document["body"]))
    document["sha256"] = hashlib.sha256(canonical_json(body)).hexdigest()
    copy = folder / path.name
    copy.write_text(json.dumps(document))
    return copy


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d["head"]["corpus"].update(fingerprint="0" * 64), "corpus.fingerprint 000"),
        (lambda d: d["head"]["memory"].update(version="2"), "memory.version 2 against 1"),
        (lambda d: d["head"]["arm"].update(limit=7), "arm.limit 7 against 20"),
        (lambda d: d["head"].update(unanswerable=77), "unanswerable 77 against"),
    ],
)
def test_shards_that_were_not_measured_alike_are_named_with_what_differs(change, named, three, tmp_path):
    (tmp_path / "out").mkdir()
    other = altered(three[2], tmp_path, change)
    message = refused([three[0], other, three[4]], tmp_path / "out")
    assert "were not measured alike" in message and named in message and str(other) in message


def test_shards_of_two_models_are_refused(tmp_path):
    one = shard(tmp_path / "a", 1, 2, memory="episodic", toy=True)[0]
    other = shard(tmp_path / "b", 2, 2, memory="episodic", toy=True)[0]
    other = altered(other, tmp_path, lambda d: d["head"]["embedder"].update(probe="1" * 64))
    (tmp_path / "out").mkdir()
    assert "embedder.probe 111" in refused([one, other], tmp_path / "out")


def test_shards_of_two_corpora_are_refused(three, tmp_path, locomo_file):
    other = shard(
        tmp_path / "locomo", 2, 3, corpus=str(locomo_file), file_format="locomo", reading=Reading(part=Slice(3))
    )
    (tmp_path / "out").mkdir()
    message = refused([three[0], other[0], three[4]], tmp_path / "out")
    assert "sample.now.instances-5.bm25: shard 2/3 missing" in message
    assert "they are of 2 arms" in message


def test_an_instance_in_two_shards_is_named(three, tmp_path):
    def with_anothers(document):
        document["parts"].append(json.loads(three[0].read_bytes())["body"]["parts"][0])

    (tmp_path / "out").mkdir()
    message = refused([three[0], altered(three[2], tmp_path, with_anothers), three[4]], tmp_path / "out")
    assert "1 instances stand in more than one shard" in message


def test_an_instance_in_no_shard_is_named(three, tmp_path):
    (tmp_path / "out").mkdir()
    short = altered(three[2], tmp_path, lambda document: document["parts"].pop())
    assert "the shards hold 4 of 5 instances" in refused([three[0], short, three[4]], tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "is not JSON"),
        (b"[]", "its schema is not given"),
        (b'{"schema": "membench.measurement/1"}', "its schema is 'membench.measurement/1'"),
        (b'{"schema": "membench.shard/1"}', "Field required"),
    ],
)
def test_what_is_no_shard_is_refused(content, problem, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    (tmp_path / "out").mkdir()
    assert problem in refused([path], tmp_path / "out", ReportError)


def test_a_shard_that_was_altered_is_refused(three, tmp_path):
    (tmp_path / "out").mkdir()
    changes = {
        "ranks": lambda part: part["findings"]["queries"][0].update(session_ranks=[2]),
        "impossible ranks": lambda part: part["findings"]["queries"][0].update(session_ranks=[-5]),
        "no gold": lambda part: part["findings"]["queries"][0].update(session_ranks=[], gold_sessions=[]),
        "no queries": lambda part: part["findings"].update(queries=[]),
        "account": lambda part: part["findings"]["accounting"].update(written=-3),
        "place": lambda part: part.update(place=7),
        "instance": lambda part: part.update(instance="another"),
    }
    for name, change in changes.items():
        document = json.loads(three[0].read_bytes())
        change(document["body"]["parts"][0])
        copy = tmp_path / three[0].name
        copy.write_text(json.dumps(document))
        message = refused([copy, *three[2::2]], tmp_path / "out", ReportError)
        assert "is not as it was measured" in message, name


def test_a_folder_without_a_shard_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    assert "holds no shard" in refused([tmp_path / "in"], tmp_path / "out")


def test_a_shared_pool_has_no_shards(tmp_path):
    with pytest.raises(UsageError, match="one store for all"):
        shard(tmp_path, 1, 2, pool="shared")


def test_more_shards_than_instances_are_refused(tmp_path):
    with pytest.raises(UsageError, match="5 instances"):
        shard(tmp_path, 1, 6)
