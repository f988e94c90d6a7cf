"""What to do about the baseline pull request: one pure function, its conditions in order."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from membench.github.proposal.situation import Proposal, Situation, blob_id


class Step(Enum):
    """The six things that can be done."""

    NOTHING = auto()
    CLOSE = auto()
    """Close the open pull request with a sentence."""
    UPDATE = auto()
    """Commit on the tip of the branch, and rewrite the text of its open pull request."""
    OPEN = auto()
    """Open a pull request of the branch as it stands."""
    COMMIT_AND_OPEN = auto()
    """Commit on the tip of the branch, then open a pull request."""
    BEGIN = auto()
    """Commit on the tip of the base, put the branch there, then open a pull request."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The step, and why as a sentence for the summary; ``number`` is of the pull request that it is about.

    ``desired`` is what the branch is to hold of what was measured, None for no file. ``proposed`` are the paths of it
    that differ from what is accepted, ``others`` what the branch holds beyond it that does: other runs' proposals.
    """

    step: Step
    why: str
    number: int | None
    desired: Mapping[str, str | None]
    proposed: frozenset[str]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Aims:
    """What of a proposal is to be on the branch, with the pull requests in which a person said no to the rest."""

    desired: dict[str, str | None]
    on_branch: dict[str, str | None]
    proposed: frozenset[str]
    others: tuple[str, ...]
    declined: dict[str, int]


def decide(situation: Situation, proposal: Proposal) -> Decision:
    """Quiet wherever a person has spoken or nothing is new; a commit only where a file changes."""
    aims = _aims(situation, proposal)
    step, why, number = _step(situation, aims) if aims.proposed else _nothing_new(situation, aims)
    if aims.proposed:
        refusals = [
            f"{path} was declined in pull request {at}, and is not proposed again."
            for path, at in aims.declined.items()
        ]
        why = " ".join([why, *refusals])
    return Decision(step, why, number, aims.desired, aims.proposed, aims.others)


def _step(situation: Situation, aims: _Aims) -> tuple[Step, str, int | None]:
    """What to do where figures changed to what nobody has declined."""
    there = aims.desired == aims.on_branch
    if (pull := situation.open_pull) is not None:
        if there:
            return Step.NOTHING, f"Pull request {pull.number} already proposes exactly this.", pull.number
        # On its tip, so that what a person committed there stays.
        return Step.UPDATE, f"Pull request {pull.number} is brought up to date.", pull.number
    if situation.tip is None:
        return Step.BEGIN, "New baselines are proposed.", None
    if situation.left_behind:
        # Merged or closed: what is on it has been decided, and stays to be seen in that pull request.
        return Step.BEGIN, "New baselines are proposed, on the branch begun afresh from the base.", None
    # A branch that no pull request was opened of: opening was forbidden, or the job was cut off in between.
    if there:
        return Step.OPEN, "The branch already holds the new baselines; its pull request is opened.", None
    return Step.COMMIT_AND_OPEN, "New baselines are proposed.", None


def _nothing_new(situation: Situation, aims: _Aims) -> tuple[Step, str, int | None]:
    """What to do where what is measured is accepted, or declined."""
    number = next(iter(aims.declined.values()), None)
    why = "What is measured is what is accepted: there is nothing to propose."
    if number is not None:
        why = (
            f"Pull request {number} proposed exactly this, and a person closed it without merging: it is not repeated."
        )
    pull = situation.open_pull
    if pull is None:
        return Step.NOTHING, why, number
    if not aims.others:
        why = f"{why} Pull request {pull.number} has nothing left to propose and is closed."
        return Step.CLOSE, why, pull.number
    # Another run shares the branch: what it has proposed stays.
    if aims.desired == aims.on_branch:
        return Step.NOTHING, f"{why} Pull request {pull.number} proposes what other runs measured.", pull.number
    return Step.UPDATE, f"{why} It is taken back from pull request {pull.number}.", pull.number


def _aims(situation: Situation, proposal: Proposal) -> _Aims:
    blobs = {path: blob_id(data) for path, data in sorted(proposal.changed.items())}
    declined = {path: number for path, blob in blobs.items() if (number := situation.declined.get((path, blob)))}
    accepted = {path: situation.base.get(path) for path in sorted(proposal.paths)}
    desired = accepted | {path: blob for path, blob in blobs.items() if path not in declined}
    # Of the other files in the folder only measurements are proposals: a person may have added a note.
    paths = (situation.base.keys() | situation.branch.keys()) - desired.keys() if situation.tip else set()
    elsewhere = [path for path in paths if path.endswith(".json")]
    return _Aims(
        desired=desired,
        on_branch={path: situation.branch.get(path) for path in desired},
        proposed=frozenset(path for path, blob in desired.items() if blob != accepted[path]),
        others=tuple(sorted(path for path in elsewhere if situation.base.get(path) != situation.branch.get(path))),
        declined=declined,
    )
