"""What GitHub refuses, lacks or fails at: a sentence for the summary, never a failure."""

import pytest
from nights import HURRIED

from membench.github.proposal import repository
from membench.github.proposal.propose import Wanted, Words, propose
from membench.github.proposal.repository import EMPTIED, TITLE, GithubError, Repository
from membench.github.proposal.situation import Proposal

A = "baselines/a.json"
BRANCH = "membench/baselines"
NEW = Proposal({A: b"new\n"}, frozenset())


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    monkeypatch.setattr(repository, "PATIENCE", HURRIED)


@pytest.fixture
def run(hub):
    def run(proposal=NEW, token=None, name=None, **changed):
        wanted = {
            "folder": "baselines",
            "branch": BRANCH,
            "base": None,
            "ref": "main",
            "words": lambda paths, others: Words(TITLE, "The figures.", "New baselines"),
            "labels": (),
            "draft": False,
            "web_url": "https://github.test/acme/memory",
        } | changed
        return propose(Repository(name or hub.full_name, token or hub.token, hub.url), proposal, Wanted(**wanted))

    return run


def test_title_body_labels_draft_and_base(hub, run):
    hub.person.create_branch("release/2", "main")
    found = run(labels=("benchmark", "memory"), draft=True, base="release/2", ref="release/2")
    (pull,) = hub.pull_requests
    assert (pull.title, pull.body, pull.base, pull.draft) == (TITLE, "The figures.", "release/2", True)
    assert set(pull.labels) == {"benchmark", "memory"}
    assert (found.operation, found.pull.number, found.pull.url) == ("created", 1, found.pull.url)
    assert found.pull.url.endswith("/pull/1")
    assert found.in_order


def test_a_repository_without_drafts_gets_a_pull_request_that_is_none(hub, run):
    hub.drafts_supported = False
    found = run(draft=True)
    assert (found.operation, hub.pull_requests[0].draft) == ("created", False)
    assert "It is no draft" in " ".join(found.sentences)


def test_an_update_rewrites_the_body_and_leaves_the_title_to_people(hub, run):
    run(labels=("benchmark",))
    hub.person.edit(1, title="My title", labels=[])
    words = lambda paths, others: Words(f"{TITLE}: regressed", "Other figures.", "m")  # noqa: E731
    found = run(Proposal({A: b"newer\n"}, frozenset()), words=words, labels=("benchmark",))
    (pull,) = hub.pull_requests
    assert (found.operation, pull.title, pull.body, list(pull.labels)) == ("updated", "My title", "Other figures.", [])


def test_an_update_tells_the_new_verdict_in_a_title_that_is_ours(hub, run):
    run()
    words = lambda paths, others: Words(f"{TITLE}: regressed", "Other figures.", "m")  # noqa: E731
    run(Proposal({A: b"newer\n"}, frozenset()), words=words)
    assert hub.pull_requests[0].title == f"{TITLE}: regressed"


def test_two_workflows_on_one_branch_leave_each_others_proposals_alone(hub, run):
    theirs = Proposal({"baselines/b.json": b"theirs\n"}, frozenset())
    told = []

    def words(paths, others):
        told.append((sorted(paths), others))
        return Words(TITLE, "The figures.", "m")

    assert run(theirs, words=words).operation == "created"
    for _ in range(2):
        assert run(Proposal({}, frozenset({A}))).operation == "none"
        assert run(theirs).operation == "none"
    assert run(words=words).operation == "updated"
    assert told == [(["baselines/b.json"], ()), ([A], ("baselines/b.json",))]
    # Ours is mended: it is taken back, and theirs stays.
    assert run(Proposal({}, frozenset({A}))).operation == "updated"
    assert (hub.file(BRANCH, A), hub.file(BRANCH, "baselines/b.json")) == (None, b"theirs\n")
    assert [pull.state for pull in hub.pull_requests] == ["open"]
    assert run(Proposal({}, frozenset({"baselines/b.json"}))).operation == "closed"


def test_what_was_declined_stays_declined_after_another_merge(hub, run):
    run()
    hub.person.close(1)
    both = Proposal({A: b"new\n", "baselines/b.json": b"b\n"}, frozenset())
    found = run(both)
    assert (found.operation, hub.file(BRANCH, A)) == ("created", None)
    assert f"{A} was declined in pull request 1" in found.sentences[0]
    hub.person.merge(2, method="squash")
    assert run(both).operation == "none"
    assert len(hub.pull_requests) == 2


def test_a_person_may_reopen_what_membench_has_closed(hub, run):
    run()
    run(Proposal({}, frozenset({A})))
    (pull,) = hub.pull_requests
    assert pull.state == "closed"
    assert EMPTIED in pull.body
    hub.person.reopen(1)
    assert run(Proposal({A: b"newer\n"}, frozenset())).operation == "updated"
    assert EMPTIED not in pull.body


@pytest.mark.parametrize(
    ("prepare", "changed", "says"),
    [
        (lambda hub: hub.permissions.update(contents="read"), {}, "contents: write"),
        (lambda hub: None, {"base": "absent", "ref": "absent"}, "no branch absent"),
        (lambda hub: None, {"ref": "feature"}, "this run measured feature"),
        (lambda hub: None, {"branch": "main"}, "baseline-branch is main itself"),
        (lambda hub: hub.person.commit("main", {"baselines": b"x"}, "A file"), {}, "baselines is a file"),
        (lambda hub: hub.access.rate.exhaust(3600), {}, "rate limit"),
        (lambda hub: hub.secondary_limit(times=9, status=429, retry_after=1), {}, "rate limit"),
        (lambda hub: hub.fault("GET", "/contents/", close=True, times=None), {}, "did not answer as it should"),
        (
            lambda hub: hub.fault("GET", "/pulls$", status=200, body="<html>no JSON</html>"),
            {},
            "did not answer as it should",
        ),
        (lambda hub: hub.fault("POST", "/git/trees$", status=422, body={"message": "Odd"}), {}, "'Odd' (status 422)"),
    ],
)
def test_what_cannot_be_done_is_said(hub, run, prepare, changed, says):
    prepare(hub)
    try:
        found = run(**changed)
        told = " ".join(found.sentences)
        assert (found.operation, found.pull) == ("none", None)
    except GithubError as error:
        # Even looking the repository up has failed.
        told = str(error)
    assert says in told
    assert hub.pull_requests == []


@pytest.mark.parametrize(
    ("token", "name", "says"),
    [("wrong", None, "wrong or has expired"), (None, "acme/absent", "Not Found")],
)
def test_a_repository_that_cannot_be_read_is_said(run, token, name, says):
    with pytest.raises(GithubError, match=says):
        run(token=token, name=name)


def test_the_missing_permission_to_open_leaves_the_branch_and_gives_a_link(hub, run):
    hub.permissions["pull_requests"] = "read"
    found = run()
    assert hub.file(BRANCH, A) == b"new\n"
    assert "https://github.test/acme/memory/compare/main...membench/baselines?expand=1" in found.sentences[-1]
    assert "pull-requests: write" in found.sentences[0]
    assert not found.in_order


def test_a_label_that_cannot_be_set_is_no_reason_to_open_nothing(hub, run):
    hub.fault("POST", "/labels$", status=403, body={"message": "Resource not accessible by integration"})
    found = run(labels=("x",))
    assert found.operation == "created"
    assert "labels cannot be set" in found.sentences[-1]


@pytest.mark.parametrize("path", ["/git/refs$", "/git/blobs$", "/git/commits$", "/pulls$"])
def test_an_answer_that_is_lost_after_the_deed_is_done_once(hub, run, path):
    hub.fault("POST", path, status=502, body="<html>bad gateway</html>", applied=True)
    run()
    assert [pull.state for pull in hub.pull_requests] == ["open"]
    assert len(hub.commits(BRANCH)) == 2


def test_a_branch_that_keeps_moving_is_left_alone_in_the_end(hub, run):
    run()
    moves = iter(range(100))

    def move():
        hub.person.commit(BRANCH, {"n": b"%d" % next(moves)}, "Again")

    hub.before("PATCH", "/git/refs/", move, times=100)
    found = run(Proposal({A: b"newer\n"}, frozenset()))
    assert (found.operation, found.in_order) == ("none", False)
    assert hub.file(BRANCH, A) == b"new\n"
    assert next(moves) == 4


def test_a_person_who_is_faster_than_a_move_by_force_loses_nothing(hub, run):
    run()
    hub.person.merge(1, method="squash")
    persons = []
    hub.before("POST", "/git/commits$", lambda: persons.append(hub.person.commit(BRANCH, {"n": b"1"}, "Mine")))
    found = run(Proposal({A: b"newer\n"}, frozenset()))
    assert found.operation == "created"
    assert persons[0] in [commit.sha for commit in hub.commits(BRANCH)]
    assert hub.file(BRANCH, A) == b"newer\n"


def test_a_branch_whose_name_begins_like_ours_is_another(hub, run):
    hub.person.create_branch(f"{BRANCH}-old", "main")
    assert run().operation == "created"
    assert hub.branches().keys() == {"main", BRANCH, f"{BRANCH}-old"}
