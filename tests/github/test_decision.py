"""What is done about the pull request, for every situation there is."""

import pytest

from membench.github.proposal.decision import Step, decide
from membench.github.proposal.situation import Proposal, PullRequest, Situation, blob_id

A, B = "baselines/a.json", "baselines/b.json"
OLD, NEW, OTHER = b"old", b"new", b"other"


def blobs(a, b=OLD):
    return {path: None if data is None else blob_id(data) for path, data in ((A, a), (B, b))}


def pull(number=7, *, is_open=False, merged=False, emptied=False, head="tip"):
    return PullRequest(number, f"https://example.test/{number}", is_open, merged, emptied, head)


def situation(base=OLD, tip=None, branch=None, pulls=(), rejected=None):
    return Situation(
        base_tip="base",
        base=blobs(base),
        tip=tip,
        branch=blobs(branch, OLD if branch else None) if tip else blobs(None, None),
        pulls=tuple(pulls),
        rejected=None if rejected is None else blobs(rejected),
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
        (situation(tip="tip", branch=NEW, pulls=[pull()], rejected=NEW), CHANGED, Step.NOTHING, 7),
        (situation(tip=None, pulls=[pull()], rejected=NEW), CHANGED, Step.NOTHING, 7),
        (situation(tip="tip", branch=OTHER, pulls=[pull()], rejected=OTHER), CHANGED, Step.BEGIN, None),
        (situation(tip=None, pulls=[pull()], rejected=OTHER), CHANGED, Step.BEGIN, None),
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


def test_the_last_word_of_a_person_counts_beyond_one_that_membench_closed():
    pulls = [pull(9, emptied=True, head="later"), pull(8), pull(3, merged=True, head="long ago")]
    standing = situation(tip="later", branch=OTHER, pulls=pulls, rejected=NEW)
    assert decide(standing, CHANGED).number == 8


def test_an_arm_that_is_as_accepted_again_goes_back_on_the_branch_too():
    standing = Situation("base", blobs(OLD), "tip", blobs(NEW, NEW), (pull(is_open=True),), None)
    assert decide(standing, Proposal({A: NEW}, frozenset({B}))).step is Step.UPDATE
    assert Proposal({A: NEW}, frozenset({B})).desired(standing.base) == blobs(NEW, OLD)


def test_a_file_has_the_id_that_git_gives_it():
    # git hash-object of the six bytes "hello\n".
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
