"""From what was measured and compared to the pull request that proposes it."""

from pathlib import Path, PurePosixPath

from membench.compare.compare import run_comparison
from membench.github.context import Context
from membench.github.inputs import Inputs
from membench.github.proposal.propose import TITLE, Proposed, Wanted, propose
from membench.github.proposal.repository import GithubError, Repository
from membench.github.proposal.situation import Proposal
from membench.render.run import pull_request_body
from membench.reports.canonical import canonical_json
from membench.reports.comparison import Comparison, Comparisons
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of

_PULL_REQUEST_EVENTS = ("pull_request", "pull_request_target", "pull_request_review", "merge_group")


def proposal_of(measurements: list[Measurement], run: Comparisons, folder: str) -> Proposal:
    """The files that are to be accepted anew, and those that still hold.

    What is not clean is neither: it never becomes a baseline, and says nothing against the one there is.
    """
    changed, unchanged = {}, set()
    for measurement, arm in zip(measurements, run.arms, strict=True):
        path = str(PurePosixPath(folder, f"{stem_of(measurement)}.json"))
        if arm.identical:
            unchanged.add(path)
        elif measurement.status == "clean":
            changed[path] = canonical_json(measurement)
    return Proposal(changed, frozenset(unchanged))


def proposed(
    measurements: list[Measurement],
    run: Comparisons,
    inputs: Inputs,
    context: Context,
    templates: Path | None,
    whole: str,
) -> Proposed:
    """What was done about the pull request. Never raises for what GitHub refuses: the sentences say it."""
    if why := _withheld(inputs, context):
        return Proposed("none", None, (why,))
    proposal = proposal_of(measurements, run, inputs.baseline_dir)
    if not proposal.paths:
        return Proposed("none", None, ("No pull request: nothing that was measured is clean.",))
    pairs = [
        (measurement, arm)
        for measurement, arm in zip(measurements, run.arms, strict=True)
        if not arm.identical and measurement.status == "clean"
    ]
    body = ""
    if pairs:
        arms = run_comparison([arm for _, arm in pairs])
        body = pull_request_body(arms, [one for one, _ in pairs], [], whole, templates)
    wanted = Wanted(
        folder=inputs.baseline_dir,
        branch=inputs.baseline_branch,
        base=inputs.base,
        ref=context.branch or "",
        title=TITLE,
        message=_message([arm for _, arm in pairs]),
        body=body,
        labels=inputs.pr_labels,
        draft=inputs.pr_draft,
        web_url=context.web_url,
    )
    try:
        repository = Repository(context.repository, inputs.github_token or "", context.api_url)
    except GithubError as error:
        return Proposed("none", None, (str(error),), in_order=False)
    return propose(repository, proposal, wanted)


def _withheld(inputs: Inputs, context: Context) -> str | None:
    """Why nothing is to be asked of GitHub at all."""
    if not inputs.baseline_pr:
        return "No pull request: baseline-pr is false."
    if context.event in _PULL_REQUEST_EVENTS:
        return f"No pull request: this run is of a {context.event} event, whose figures are not accepted yet."
    if context.from_fork:
        return "No pull request: this repository is a fork, and baselines are accepted where it was forked from."
    if not inputs.github_token:
        return "No pull request: there is no token (input github-token)."
    if not context.repository:
        return "No pull request: this is not a run of GitHub Actions (GITHUB_REPOSITORY is not set)."
    if context.branch is None:
        return "No pull request: this run is not of a branch."
    return None


def _message(arms: list[Comparison]) -> str:
    lines = [f"{arm.candidate.stem}: {arm.verdict}" for arm in arms if arm.candidate is not None]
    return "\n".join([TITLE, "", *lines])
