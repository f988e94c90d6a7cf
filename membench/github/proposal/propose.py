"""The baseline pull request from beginning to end: look, decide, do, and look again where somebody was faster."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from membench.github.proposal.decision import Decision, Step, decide
from membench.github.proposal.repository import ForbiddenError, GithubError, MovedError, Repository
from membench.github.proposal.situation import Proposal, PullRequest, Situation

Operation = Literal["created", "updated", "closed", "none"]

_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Words:
    """What people read: of the pull request, and of the commit."""

    title: str
    body: str
    message: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to propose. ``base`` None is the repository's default branch; ``folder`` holds the baselines.

    ``web_url`` is the repository's address in a browser; ``ref`` is the branch that was measured. ``words`` is given
    the paths that are proposed and those that other runs have proposed on the same branch.
    """

    folder: str
    branch: str
    base: str | None
    ref: str
    words: Callable[[frozenset[str], tuple[str, ...]], Words]
    labels: tuple[str, ...]
    draft: bool
    web_url: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """What was done about the pull request, and the sentences that say so. ``pull`` is None where there is none.

    ``in_order`` is False where it was to be done and could not: a notice, never a failure.
    """

    operation: Operation
    pull: PullRequest | None
    sentences: tuple[str, ...]
    in_order: bool = True


def propose(repository: Repository, proposal: Proposal, wanted: Wanted) -> Proposed:
    """Proposes, updates, closes or leaves alone. Never raises for what GitHub refuses or fails at: it says so."""
    try:
        base = wanted.base or repository.default_branch
        if why := _unfit(repository, base, wanted):
            return Proposed("none", None, (why,))
        return _settled(repository, proposal, wanted, base)
    except GithubError as error:
        return Proposed("none", None, (str(error),), in_order=False)


def _unfit(repository: Repository, base: str, wanted: Wanted) -> str | None:
    if repository.is_fork:
        return "No pull request: this repository is a fork, and baselines are accepted where it was forked from."
    if wanted.ref != base:
        return f"No pull request: this run measured {wanted.ref}, and baselines are accepted on {base}."
    if wanted.branch == base:
        return f"No pull request: baseline-branch is {base} itself; name another."
    return None


def _settled(repository: Repository, proposal: Proposal, wanted: Wanted, base: str) -> Proposed:
    for attempt in range(_ATTEMPTS):
        situation = repository.situation(base, wanted.branch, wanted.folder, proposal)
        decision = decide(situation, proposal)
        try:
            return _done(repository, proposal, wanted, base, situation, decision)
        except MovedError:
            # Somebody committed, merged or deleted in between: what is right is decided anew.
            if attempt + 1 == _ATTEMPTS:
                raise
    raise AssertionError


def _done(
    repository: Repository, proposal: Proposal, wanted: Wanted, base: str, situation: Situation, decision: Decision
) -> Proposed:
    pull, why = situation.open_pull, decision.why
    if decision.step is Step.NOTHING:
        return Proposed("none", _about(situation, decision), (why,))
    if decision.step is Step.CLOSE and pull is not None:
        repository.close(pull.number, f"{why} A later change is proposed anew.")
        return Proposed("closed", pull, (why,))
    words = wanted.words(decision.proposed, decision.others)
    if decision.step is not Step.OPEN:
        _committed(repository, proposal, wanted.branch, situation, decision, words.message)
    if decision.step is Step.UPDATE and pull is not None:
        repository.rewrite(pull.number, words.title, words.body)
        return Proposed("updated", pull, (why,))
    return _opened(repository, wanted, words, base, why)


def _about(situation: Situation, decision: Decision) -> PullRequest | None:
    return next((pull for pull in situation.pulls if pull.number == decision.number), None)


def _committed(
    repository: Repository, proposal: Proposal, branch: str, situation: Situation, decision: Decision, message: str
) -> None:
    afresh = decision.step is Step.BEGIN
    if afresh or situation.tip is None:
        parent, standing = situation.base_tip, situation.base
    else:
        parent, standing = situation.tip, situation.branch
    commit = repository.commit(parent, standing, decision.desired, proposal.changed, message)
    if situation.tip is None:
        repository.create_branch(branch, commit)
    else:
        repository.move_branch(branch, commit, tip=situation.tip, afresh=afresh)


def _opened(repository: Repository, wanted: Wanted, words: Words, base: str, why: str) -> Proposed:
    sentences = [why]
    draft = wanted.draft
    try:
        try:
            pull = repository.open_pull_request(words.title, words.body, base, wanted.branch, draft=draft)
        except GithubError as error:
            if not draft or "raft pull requests are not supported" not in str(error):
                raise
            sentences.append("It is no draft: this repository does not support draft pull requests.")
            pull = repository.open_pull_request(words.title, words.body, base, wanted.branch, draft=False)
    except ForbiddenError as error:
        link = f"{wanted.web_url}/compare/{quote(base)}...{quote(wanted.branch)}?expand=1"
        kept = f"The new baselines are on the branch {wanted.branch}; open the pull request by hand: {link}"
        return Proposed("none", None, (str(error), kept), in_order=False)
    if wanted.labels:
        try:
            repository.label(pull.number, wanted.labels)
        except GithubError as error:
            sentences.append(str(error))
    return Proposed("created", pull, tuple(sentences))
