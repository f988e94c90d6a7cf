"""From what was measured and compared to the pull request that proposes it."""

from pathlib import Path, PurePosixPath

from membench.compare.compare import run_comparison
from membench.github.context import Context
from membench.github.inputs import Inputs
from membench.github.proposal.propose import Proposed, Wanted, Words, propose
from membench.github.proposal.repository import TITLE, GithubError, Repository
from membench.github.proposal.situation import Proposal
from membench.render.run import pull_request_body
from membench.reports.canonical import canonical_json
from membench.reports.comparison import Comparisons
from membench.reports.measurement import Measurement
from membench.reports.naming import stem_of

# Others run for a branch too, and may have checked out something else: a pull request, most of all.
_EVENTS = ("schedule", "workflow_dispatch", "push", "repository_dispatch")


def proposal_of(measurements: list[Measurement], run: Comparisons, folder: str) -> Proposal:
    """The files that are to be accepted anew, and those that still hold.

    What is not clean, or of a noisy memory, is neither: it never becomes a baseline, and says nothing against the one
    there is.
    """
    changed, unchanged = {}, set()
    for measurement, arm in zip(measurements, run.arms, strict=True):
        path = _path(folder, measurement)
        if arm.identical:
            unchanged.add(path)
        elif may_be_baseline(measurement):
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
    arms = {
        _path(inputs.baseline_dir, measurement): (measurement, arm)
        for measurement, arm in zip(measurements, run.arms, strict=True)
    }

    def words(paths: frozenset[str], others: tuple[str, ...]) -> Words:
        chosen = [pair for path, pair in arms.items() if path in paths] or list(arms.values())
        told = run_comparison([arm for _, arm in chosen])
        run_of = f" by {context.run_url}" if context.run_url else ""
        sentences = [f"Measured at commit {context.commit}{run_of}"] if context.commit else []
        sentences += [f"{path} on this branch is another run's proposal, and is not told of here." for path in others]
        body = pull_request_body(told, [one for one, _ in chosen], sentences, whole, templates)
        title = f"{TITLE}: {told.verdict}"
        verdicts = [f"{stem_of(one)}: {arm.verdict}" for one, arm in chosen]
        return Words(title, body, "\n".join([title, "", *verdicts]))

    if templates is not None:
        # A template that fails is to fail on the first night, and not on the first one with news.
        words(frozenset(arms), ())
    if why := _withheld(inputs, context):
        return Proposed("none", None, (why,))
    proposal = proposal_of(measurements, run, inputs.baseline_dir)
    if not proposal.paths:
        return Proposed("none", None, ("No pull request: nothing that was measured can become a baseline.",))
    wanted = Wanted(
        folder=inputs.baseline_dir,
        branch=inputs.baseline_branch,
        base=inputs.base,
        ref=context.branch or "",
        words=words,
        labels=inputs.pr_labels,
        draft=inputs.pr_draft,
        web_url=context.web_url,
    )
    try:
        repository = Repository(context.repository, inputs.github_token or "", context.api_url)
    except GithubError as error:
        return Proposed("none", None, (str(error),), in_order=False)
    return propose(repository, proposal, wanted)


def may_be_baseline(measurement: Measurement) -> bool:
    """Whether later measurements could be compared with it."""
    return measurement.status == "clean" and not measurement.memory.noisy


def _path(folder: str, measurement: Measurement) -> str:
    return str(PurePosixPath(folder, f"{stem_of(measurement)}.json"))


def _withheld(inputs: Inputs, context: Context) -> str | None:
    """Why nothing is to be asked of GitHub at all."""
    if not inputs.baseline_pr:
        return "No pull request: baseline-pr is false."
    if context.event not in _EVENTS:
        return (
            f"No pull request: this run is of the event {context.event or 'none'}; it is made for {', '.join(_EVENTS)}."
        )
    if context.from_fork:
        return "No pull request: this repository is a fork, and baselines are accepted where it was forked from."
    if not inputs.github_token:
        return "No pull request: there is no token (input github-token)."
    if not context.repository:
        return "No pull request: this is not a run of GitHub Actions (GITHUB_REPOSITORY is not set)."
    if context.branch is None:
        return "No pull request: this run is not of a branch."
    return None
