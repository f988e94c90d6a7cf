"""What to do about the baseline pull request: one pure function, its conditions in order."""

from dataclasses import dataclass
from enum import Enum, auto

from membench.github.proposal.situation import Proposal, Situation


class Step(Enum):
    """The six things that can be done."""

    NOTHING = auto()
    CLOSE = auto()
    """Close the open pull request with a sentence."""
    UPDATE = auto()
    """Commit on the tip of the branch, and rewrite the body of its open pull request."""
    OPEN = auto()
    """Open a pull request of the branch as it stands."""
    COMMIT_AND_OPEN = auto()
    """Commit on the tip of the branch, then open a pull request."""
    BEGIN = auto()
    """Commit on the tip of the base, put the branch there, then open a pull request."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The step, and why as a sentence for the summary; ``number`` is of the pull request that it is about."""

    step: Step
    why: str
    number: int | None = None


def decide(situation: Situation, proposal: Proposal) -> Decision:
    """Quiet wherever a person has spoken or nothing is new; a commit only where a file changes."""
    desired = proposal.desired(situation.base)
    pull, decided = situation.open_pull, situation.decided_pull

    if desired == dict(situation.base):
        if pull is not None:
            return Decision(
                Step.CLOSE,
                f"What is measured is what is accepted: pull request {pull.number} has nothing left to propose "
                "and is closed.",
                pull.number,
            )
        return Decision(Step.NOTHING, "What is measured is what is accepted: there is nothing to propose.")

    if pull is not None:
        if desired == dict(situation.branch):
            return Decision(Step.NOTHING, f"Pull request {pull.number} already proposes exactly this.", pull.number)
        # On its tip, so that what a person committed there stays.
        return Decision(Step.UPDATE, f"Pull request {pull.number} is brought up to date.", pull.number)

    if decided is not None and situation.rejected is not None and desired == dict(situation.rejected):
        return Decision(
            Step.NOTHING,
            f"Pull request {decided.number} proposed exactly this, and a person closed it without merging: "
            "it is not proposed again.",
            decided.number,
        )

    if situation.tip is None:
        return Decision(Step.BEGIN, "New baselines are proposed.")
    if situation.left_behind:
        # Merged or closed: what is on it has been decided, and stays to be seen in that pull request.
        return Decision(Step.BEGIN, "New baselines are proposed, on the branch begun afresh from the base.")

    # A branch that no pull request was opened of: opening was forbidden, or the job was cut off in between.
    if desired == dict(situation.branch):
        return Decision(Step.OPEN, "The branch already holds the new baselines; its pull request is opened.")
    return Decision(Step.COMMIT_AND_OPEN, "New baselines are proposed.")
