"""What earlier jobs left, whole or in shards, becomes the measurements that are compared."""

import shutil

import pytest

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.corpora.shards import Shard
from membench.errors import ReportError, UsageError
from membench.github.context import read_context
from membench.github.gathering import gathered
from membench.github.inputs import Inputs
from membench.reports.canonical import canonical_json
from membench.reports.naming import stem_of
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval, run_shard

NOW, ANCHORED = "sample.now.instances-3.bm25", "sample.anchored.instances-3.bm25"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Two arms of the sample: whole in `whole`, and each of its three shards in a folder of its own."""
    folder = tmp_path_factory.mktemp("made")
    request = Request("sample", reading=Reading(part=Slice(3, None)), timelines=("now", "anchored"), memory="bm25")
    run_retrieval(
        request, root=folder / "cache", report_dir=folder / "whole", command=[], observer_for=lambda *_: Silent()
    )
    for number in (1, 2, 3):
        run_shard(
            request,
            Shard(number, 3),
            root=folder / "cache",
            report_dir=folder / str(number),
            observer_for=lambda *_: Silent(),
        )
    return folder


@pytest.fixture
def left(made, tmp_path):
    """A folder in which only the shards of one arm are left, and one in which the other lies whole."""
    folder = tmp_path / "left"
    for number in (1, 2, 3):
        (folder / str(number)).mkdir(parents=True)
        shutil.copy(made / str(number) / f"{NOW}.shard-{number}-of-3.json", folder / str(number))
    shutil.copytree(made / "whole", folder / "whole", ignore=shutil.ignore_patterns(f"{NOW}.*"))
    return folder


@pytest.fixture
def gather(left, tmp_path, capsys):
    def gather():
        return gathered(left, Inputs(corpus="sample"), read_context({}), tmp_path / "reports", None)

    return gather


def test_an_arm_in_shards_and_a_whole_one_come_together(made, left, gather, tmp_path):
    found = gather()
    assert [stem_of(one) for one in found] == [NOW, ANCHORED]
    for one in found:
        assert canonical_json(one) == (made / "whole" / f"{stem_of(one)}.json").read_bytes()
    endings = ("json", "md", "provenance.json", "rankings.jsonl.gz")
    assert {path.name for path in (tmp_path / "reports").iterdir()} == {f"{NOW}.{ending}" for ending in endings}


def test_an_arm_that_is_there_both_whole_and_in_shards_has_to_be_the_same(made, left, gather):
    whole = shutil.copy(made / "whole" / f"{NOW}.json", left / "whole")
    assert [stem_of(one) for one in gather()] == [NOW, ANCHORED]
    body = (made / "whole" / f"{ANCHORED}.json").read_text()
    (left / "whole" / f"{NOW}.json").write_text(body.replace('"anchored.instances-3.bm25"', '"now.instances-3.bm25"'))
    with pytest.raises(ReportError, match=f"{whole} and other files below .* are different measurements of {NOW}"):
        gather()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda left: (left / "2" / f"{NOW}.shard-2-of-3.json").unlink(), f"{NOW}: shard 2/3 missing"),
        (lambda left: shutil.copytree(left / "2", left / "again"), f"{NOW}: shard 2/3 is given 2 times"),
        (lambda left: (left / "2" / f"{NOW}.shard-2-of-3.json").write_bytes(b"{"), "shard-2-of-3.json is not JSON"),
    ],
)
def test_shards_that_are_not_each_there_once_and_whole_are_breakage(left, gather, tmp_path, spoil, said):
    spoil(left)
    with pytest.raises(ReportError, match=said) as caught:
        gather()
    assert (caught.value.exit_code, bool(caught.value.remedy)) == (1, True)
    assert list((tmp_path / "reports").iterdir()) == []


def test_a_folder_with_nothing_that_was_measured_is_wrong_usage(left, gather):
    shutil.rmtree(left)
    left.mkdir()
    (left / "notes.txt").write_text("none")
    with pytest.raises(UsageError, match="neither a measurement nor a shard"):
        gather()
