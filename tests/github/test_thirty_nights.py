"""A month of one workflow: exactly the pull requests, commits and pings that a maintainer would want, and no other."""

import subprocess
from dataclasses import dataclass

import pytest
from nights import HURRIED, Nights, worse

from membench.corpora.corpus import Reading
from membench.corpora.selection import Slice
from membench.github.proposal import repository
from membench.reports.canonical import canonical_json
from membench.reports.naming import stem_of
from membench.ruler.observer import Silent
from membench.runs.request import Request
from membench.runs.retrieval import run_retrieval

BRANCH = "membench/baselines"


@pytest.fixture(scope="session")
def arms(tmp_path_factory):
    """Two arms of the sample, really measured with a memory that needs no model."""
    folder = tmp_path_factory.mktemp("arms")
    request = Request("sample", reading=Reading(part=Slice(3, None)), timelines=("now", "anchored"), memory="bm25")
    outcomes = run_retrieval(
        request, root=folder / "cache", report_dir=folder, command=[], observer_for=lambda *_: Silent()
    )
    return [outcome.measurement for outcome in outcomes]


@pytest.fixture
def nights(hub, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(repository, "PATIENCE", HURRIED)
    return Nights(hub, tmp_path, capsys)


@dataclass
class Expected:
    operation: str = "none"
    pulls: int = 0
    commits: int = 0
    pings: tuple[str, ...] = ()
    number: str = ""


QUIET = Expected()


def test_thirty_nights(hub, nights, arms):
    now, anchored = arms
    folder = [f"baselines/{stem_of(one)}.json" for one in arms]
    m = {0: now} | {count: worse(now, count) for count in range(1, 9)}
    told = []

    def night(number, expected, *, says="", **inputs):
        found = nights.night(m[number], anchored, **inputs)
        assert (found.outputs["pull-request-operation"], found.pulls, found.commits, tuple(found.pings)) == (
            expected.operation,
            expected.pulls,
            expected.commits,
            expected.pings,
        ), (nights.count, found.log)
        assert found.outputs["pull-request-number"] == expected.number, (nights.count, found.log)
        assert says in found.summary, (nights.count, found.summary)
        told.append(found)
        return found

    def accepted():
        return [hub.file("main", path) for path in folder]

    # The first run ever proposes the first baselines; a person takes two days.
    night(0, Expected("created", 1, 1, ("opened",), "1"), says="New baselines are proposed")
    assert [hub.file(BRANCH, path) for path in folder] == [canonical_json(one) for one in arms]
    assert accepted() == [None, None]
    night(0, Expected(number="1"), says="already proposes exactly this")
    night(0, Expected(number="1"))
    hub.person.merge(1, method="squash")
    first = [canonical_json(one) for one in arms]
    assert accepted() == first

    # Quiet nights, the merged branch still there.
    for _ in range(3):
        assert night(0, QUIET, says="nothing to propose").outputs["verdict"] == "unchanged"

    # A regression: green, one pull request, begun afresh from the base.
    found = night(1, Expected("created", 1, 1, ("opened",), "2"), says="afresh from the base")
    assert found.outputs["verdict"] == "regressed"
    assert float(found.outputs["headline-delta"]) == pytest.approx(-1 / now.counts.scored)
    assert [commit.sha for commit in hub.commits(BRANCH)][1] == hub.commits("main")[0].sha
    night(1, Expected(number="2"))

    # A person commits on the branch: what is the same stays quiet, what is new goes on top.
    persons = hub.person.commit(BRANCH, {"baselines/why.md": b"The new tokenizer.\n"}, "Say why")
    night(1, Expected(number="2"))
    night(2, Expected("updated", 0, 1, ("pushed",), "2"), says="brought up to date")
    assert hub.commits(BRANCH)[1].sha == persons
    assert hub.file(BRANCH, "baselines/why.md") == b"The new tokenizer.\n"
    assert hub.file(BRANCH, folder[0]) == canonical_json(m[2])
    night(2, Expected(number="2"))

    # The memory is mended: the pull request has become empty.
    night(0, Expected("closed", 0, 0, ("commented", "closed"), "2"), says="nothing left to propose")
    assert [pull.state for pull in hub.pull_requests] == ["closed", "closed"]
    night(0, QUIET)

    # The same change again: nobody has said no to it yet. Then a person does, and membench stays quiet.
    night(2, Expected("created", 1, 1, ("opened",), "3"))
    hub.person.close(3)
    night(2, Expected(number="3"), says="closed it without merging")
    night(2, Expected(number="3"))

    # Another change is another question; it is merged, and its branch deleted.
    night(3, Expected("created", 1, 1, ("opened",), "4"))
    hub.person.merge(4, method="merge")
    hub.person.delete_branch(BRANCH)
    night(3, QUIET)
    assert accepted() == [canonical_json(m[3]), first[1]]

    # The settings forbid the pull request: the branch stays, with a link, and is not committed to again.
    hub.actions_may_open_pull_requests = False
    link = "https://github.test/acme/memory/compare/main...membench/baselines?expand=1"
    night(4, Expected(commits=1), says=link)
    night(4, Expected(), says=link)
    assert "::notice title=membench%3A no pull request::" in told[-1].log
    assert "::error" not in told[-1].log
    hub.actions_may_open_pull_requests = True
    night(4, Expected("created", 1, 0, ("opened",), "5"))

    # The branch moves between looking and pushing: looked at again, built on what is there then.
    hub.before(
        "PATCH", r"/git/refs/heads/", lambda: hub.person.commit(BRANCH, {"notes.md": b"Meanwhile.\n"}, "Meanwhile")
    )
    night(5, Expected("updated", 0, 2, ("pushed",), "5"))
    assert hub.file(BRANCH, "notes.md") == b"Meanwhile.\n"
    assert hub.file(BRANCH, folder[0]) == canonical_json(m[5])

    # A person deletes the branch of an open pull request, which closes it: that is a no.
    hub.person.delete_branch(BRANCH)
    night(5, Expected(number="5"), says="closed it without merging")

    # It is deleted between looking and pushing: what is right is decided anew.
    night(6, Expected("created", 1, 1, ("opened",), "6"))
    hub.before("PATCH", r"/git/refs/heads/", lambda: hub.person.delete_branch(BRANCH))
    night(7, Expected("created", 1, 2, ("opened",), "7"))

    # A rate limit is waited out. Without a token nothing is asked at all.
    hub.secondary_limit(times=1, status=403, retry_after=1)
    night(7, Expected(number="7"), says="already proposes exactly this")
    asked = len(hub.requests)
    night(8, QUIET, says="there is no token", github_token="")
    assert len(hub.requests) == asked

    # GitHub stumbles, and then does not answer at all: no failure, and nothing is done twice.
    hub.fault("GET", r"/pulls", status=502, body="<html>bad gateway</html>")
    night(8, Expected("updated", 0, 1, ("pushed",), "7"))
    hub.fault("*", r"/repos/", status=503, body="<html>down</html>", times=None)
    found = night(8, Expected(), says="the next run tries again")
    assert found.outputs["verdict"] == "regressed"
    hub.faults.faults.clear()
    hub.person.merge(7, method="rebase")
    night(8, QUIET)
    assert accepted() == [canonical_json(m[8]), first[1]]

    assert nights.count == 30
    assert len(hub.pull_requests) == 7
    assert sum(one.commits for one in told) == 12
    assert [ping for one in told for ping in one.pings].count("opened") == 7
    assert len(hub.comments) == 1
    # Whatever was committed by the action touches the folder of baselines alone.
    for commit in {commit.sha: commit for name in hub.branches() for commit in hub.commits(name)}.values():
        if "membench baselines" in commit.message:
            names = ["git", "--git-dir", str(hub.git_dir), "show", "--pretty=", "--name-only", commit.sha]
            touched = subprocess.run(names, check=True, capture_output=True, text=True).stdout.split()
            assert all(name.startswith("baselines/") for name in touched)
