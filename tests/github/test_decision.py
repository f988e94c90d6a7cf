"""What is done about the pull request, for every situation there is."""

import pytest

from membench.github.proposal.decision import Step, decide
from membench.github.proposal.situation import Proposal, PullRequest, Situation, blob_id

A, B, C = "baselines/a.json", "baselines/b.json", "baselines/c.json"
OLD, NEW, OTHER = b"old", b"new", b"other"


def blobs(a, b=OLD):
    return {path: blob_id(data) for path, data in ((A, a), (B, b)) if data is not None}


def pull(number=7, *, is_open=False, merged=False, emptied=False, head="tip"):
    return PullRequest(number, f"https://example.test/{number}", is_open, merged, emptied, head)


def situation(base=OLD, tip=None, branch=None, pulls=(), declined=None, others=()):
    return Situation(
        base_tip="base",
        base=blobs(base),
        tip=tip,
        branch=blobs(branch, OLD if branch else None) | dict.fromkeys(others, "other") if tip else {},
        pulls=tuple(pulls),
        declined={} if declined is None else {(A, blob_id(declined)): 7},
    )


CHANGED = Proposal({A: NEW}, frozenset({B}))
UNCHANGED = Proposal({}, frozenset({A, B}))


@pytest.mark.parametrize(
    ("standing", "proposal", "step", "number"),
    [
        # Nothing is new.
        (situation(), UNCHANGED, Step.NOTHING, None),
        (situation(base=NEW), CHANGED, Step.NOTHING, None),
        (situation(base=NEW, tip="tip", branch=NEW, pulls=[pull(merged=True)]), CHANGED, Step.NOTHING, None),
        # What an open one proposed is no longer measured, or has been accepted by another way.
        (situation(tip="tip", branch=NEW, pulls=[pull(is_open=True)]), UNCHANGED, Step.CLOSE, 7),
        (situation(base=NEW, tip="tip", branch=NEW, pulls=[pull(is_open=True)]), CHANGED, Step.CLOSE, 7),
        # Nothing was ever proposed.
        (situation(), CHANGED, Step.BEGIN, None),
        (situation(base=None), CHANGED, Step.BEGIN, None),
        # One is open.
        (situation(tip="tip", branch=NEW, pulls=[pull(is_open=True)]), CHANGED, Step.NOTHING, 7),
        (situation(tip="tip", branch=OTHER, pulls=[pull(is_open=True)]), CHANGED, Step.UPDATE, 7),
        # A person has said no to exactly this, or to something else.
        (situation(tip="tip", branch=NEW, pulls=[pull()], declined=NEW), CHANGED, Step.NOTHING, 7),
        (situation(tip=None, pulls=[pull()], declined=NEW), CHANGED, Step.NOTHING, 7),
        (situation(tip="tip", branch=OTHER, pulls=[pull()], declined=OTHER), CHANGED, Step.BEGIN, None),
        (situation(tip=None, pulls=[pull()], declined=OTHER), CHANGED, Step.BEGIN, None),
        (
            situation(tip="more", branch=OTHER, pulls=[pull(9, is_open=True), pull()], declined=NEW),
            CHANGED,
            Step.CLOSE,
            9,
        ),
        # Another run shares the branch, and what it has proposed is none of ours.
        (situation(tip="tip", branch=OLD, others=[C], pulls=[pull(is_open=True)]), UNCHANGED, Step.NOTHING, 7),
        (situation(tip="tip", branch=NEW, others=[C], pulls=[pull(is_open=True)]), UNCHANGED, Step.UPDATE, 7),
        (situation(tip="tip", branch=OLD, others=[C], pulls=[pull(is_open=True)]), CHANGED, Step.UPDATE, 7),
        (situation(tip="tip", branch=NEW, others=[C], pulls=[pull(is_open=True)]), CHANGED, Step.NOTHING, 7),
        # membench itself had closed it: nobody has said no.
        (situation(tip="tip", branch=NEW, pulls=[pull(emptied=True)]), CHANGED, Step.BEGIN, None),
        # Merged, and the branch left behind or deleted.
        (situation(tip="tip", branch=OTHER, pulls=[pull(merged=True)]), CHANGED, Step.BEGIN, None),
        (situation(tip=None, pulls=[pull(merged=True)]), CHANGED, Step.BEGIN, None),
        # Merged, and a person has committed on the branch since.
        (situation(tip="more", branch=OTHER, pulls=[pull(merged=True)]), CHANGED, Step.COMMIT_AND_OPEN, None),
        # Opening was forbidden the other night.
        (situation(tip="tip", branch=NEW), CHANGED, Step.OPEN, None),
        (situation(tip="tip", branch=OTHER), CHANGED, Step.COMMIT_AND_OPEN, None),
    ],
)
def test_the_step(standing, proposal, step, number):
    decision = decide(standing, proposal)
    assert (decision.step, decision.number) == (step, number)
    assert decision.why.endswith(".")


def test_what_was_declined_stays_out_and_the_rest_is_proposed():
    decision = decide(situation(declined=NEW), Proposal({A: NEW, B: NEW}, frozenset()))
    assert decision.step is Step.BEGIN
    assert (decision.proposed, decision.desired) == ({B}, blobs(OLD, NEW))
    assert f"{A} was declined in pull request 7" in decision.why


def test_an_arm_that_is_as_accepted_again_goes_back_on_the_branch_too():
    standing = Situation("base", blobs(OLD), "tip", blobs(NEW, NEW), (pull(is_open=True),), {})
    decision = decide(standing, Proposal({A: NEW}, frozenset({B})))
    assert decision.step is Step.UPDATE
    assert decision.desired == blobs(NEW, OLD)


def test_a_first_baseline_that_is_taken_back_leaves_no_file():
    standing = Situation("base", blobs(None), "tip", blobs(NEW), (pull(is_open=True),), {(A, blob_id(OTHER)): 3})
    decision = decide(standing, Proposal({A: OTHER}, frozenset({B})))
    assert (decision.step, decision.desired[A]) == (Step.CLOSE, None)


def test_what_other_runs_have_on_the_branch_is_named():
    standing = situation(tip="tip", branch=OLD, others=[C], pulls=[pull(is_open=True)])
    assert decide(standing, CHANGED).others == (C,)
    assert decide(situation(), CHANGED).others == ()


def test_a_file_has_the_id_that_git_gives_it():
    # git hash-object of the six bytes "hello\n".
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
