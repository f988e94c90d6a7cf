"""Everything that is asked of GitHub, through PyGithub and the Git data API: nothing else speaks to it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import requests
from github import Auth, Github, GithubException, GithubRetry, InputGitTreeElement, RateLimitExceededException
from github.GithubException import BadAttributeException
from github.PullRequest import PullRequest as GithubPullRequest
from github.Repository import Repository as GithubRepository

from membench.github.proposal.situation import Blobs, Proposal, PullRequest, Situation, blob_id


@dataclass(frozen=True, slots=True)
class Patience:
    """Within which bounds rate limits, outages and cut connections are waited out: seconds, and retries a request."""

    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: int = 300
    timeout: int = 30
    between_writes: float = 1.0


PATIENCE = Patience()

EMPTIED = "<!-- membench: nothing left to propose -->"
TITLE = "Accept the new membench baselines"
"""How the title of a pull request begins, unless a person has given it another."""

_PULLS_LOOKED_AT = 30
_DECLINED_LOOKED_AT = 5
_TO_PROPOSE = "The token needs contents: write and pull-requests: write, under permissions of the job."
_TO_LABEL = "A label that the repository does not have yet needs issues: write too, under permissions of the job."


class GithubError(Exception):
    """GitHub refused or did not answer; the text is a sentence for the summary. It never fails a run."""


class ForbiddenError(GithubError):
    """The token lacks a permission, or the repository's settings forbid it."""


class MovedError(GithubError):
    """The branch is no longer what it was when it was looked at."""


class Repository:
    """One repository on GitHub, as the token sees it."""

    def __init__(
        self,
        name: str,
        token: str,
        api_url: str,
        *,
        patience: "Patience | None" = None,
    ) -> None:
        patient = patience or PATIENCE
        retry = GithubRetry(
            total=patient.attempts,
            backoff_factor=patient.first_wait,
            backoff_max=patient.longest_wait,
            max_rate_limit_wait=patient.longest_wait,
            secondary_rate_wait=min(60.0, patient.longest_wait),
            retry_after_max=patient.longest_wait,
        )
        self._github = Github(
            base_url=api_url,
            auth=Auth.Token(token),
            timeout=patient.timeout,
            retry=retry,
            seconds_between_requests=None,
            seconds_between_writes=patient.between_writes,
        )
        self._owner = name.partition("/")[0]
        with _told("the repository cannot be read"):
            self._repository: GithubRepository = self._github.get_repo(name)
            self.default_branch: str = self._repository.default_branch
            self.is_fork: bool = self._repository.fork

    def situation(self, base: str, branch: str, folder: str, proposal: Proposal) -> Situation:
        """How things stand for ``folder``, and for what ``proposal`` would change in it."""
        with _told("the state of the baselines cannot be read"):
            base_tip = self._tip(base)
            if base_tip is None:
                raise GithubError(f"There is no branch {base} to propose to.")
            tip = self._tip(branch)
            listed = self._repository.get_pulls(
                state="all", sort="created", direction="desc", base=base, head=f"{self._owner}:{branch}"
            )
            pulls = tuple(_pull_request(pull) for pull in islice(listed, _PULLS_LOOKED_AT))
            return Situation(
                base_tip=base_tip,
                base=self._blobs(base_tip, folder),
                tip=tip,
                branch=self._blobs(tip, folder) if tip else {},
                pulls=pulls,
                declined=self._declined(pulls, folder, proposal),
            )

    def commit(
        self,
        parent: str,
        standing: Blobs,
        desired: Mapping[str, str | None],
        contents: Mapping[str, bytes],
        message: str,
    ) -> str:
        """A new commit on ``parent``, which holds ``standing``: its files made as ``desired``, from ``contents`` where
        they are new. Returns its id; no branch points at it yet.
        """
        with _told("the commit cannot be made"):
            elements = []
            for path, blob in sorted(desired.items()):
                if standing.get(path) != blob:
                    new = path in contents and blob_id(contents[path]) == blob
                    sha = self._blob(contents[path]) if new else blob
                    elements.append(InputGitTreeElement(path, "100644", "blob", sha=sha))
            before = self._repository.get_git_commit(parent)
            tree = self._repository.create_git_tree(elements, before.tree)
            return self._repository.create_git_commit(message, tree, [before]).sha

    def create_branch(self, branch: str, commit: str) -> None:
        """Raises MovedError if it is there already."""
        with _told("the branch cannot be made", moved=("already exists",)):
            self._repository.create_git_ref(f"refs/heads/{branch}", commit)

    def move_branch(self, branch: str, commit: str, *, tip: str, afresh: bool) -> None:
        """From ``tip`` to ``commit``, its descendant unless ``afresh``. Raises MovedError if it stands elsewhere."""
        with _told("the branch cannot be moved", moved=("not a fast forward", "does not exist")):
            # A move by force would take along what somebody has just pushed.
            if afresh and self._tip(branch) != tip:
                raise MovedError(f"The branch {branch} keeps moving.")
            self._repository.get_git_ref(f"heads/{branch}").edit(commit, force=afresh)

    def open_pull_request(self, title: str, body: str, base: str, branch: str, *, draft: bool) -> PullRequest:
        """Raises ForbiddenError where it is not permitted, MovedError where there is one already."""
        with _told("the pull request cannot be opened", moved=("already exists",)):
            return _pull_request(
                self._repository.create_pull(base=base, head=branch, title=title, body=body, draft=draft)
            )

    def label(self, number: int, labels: Sequence[str]) -> None:
        """Adds ``labels`` to a pull request."""
        with _told("the labels cannot be set", needs=_TO_LABEL):
            self._repository.get_issue(number).add_to_labels(*labels)

    def rewrite(self, number: int, title: str, body: str) -> None:
        """Gives a pull request a new body, and a new title unless a person has given it another.

        Nobody is notified of it.
        """
        with _told("the pull request cannot be updated"):
            pull = self._repository.get_pull(number)
            ours = pull.title.startswith(TITLE)
            if pull.body != body or (ours and pull.title != title):
                pull.edit(title=title if ours else pull.title, body=body)

    def close(self, number: int, sentence: str) -> None:
        """Closes a pull request, and says why in a comment."""
        with _told("the pull request cannot be closed"):
            pull = self._repository.get_pull(number)
            pull.create_issue_comment(sentence)
            pull.edit(state="closed", body=f"{pull.body or ''}\n\n{EMPTIED}")

    def _tip(self, branch: str) -> str | None:
        for ref in self._repository.get_git_matching_refs(f"heads/{branch}"):
            # What matches begins with it.
            if ref.ref == f"refs/heads/{branch}":
                return ref.object.sha
        return None

    def _declined(self, pulls: Sequence[PullRequest], folder: str, proposal: Proposal) -> dict[tuple[str, str], int]:
        if not proposal.changed:
            return {}
        closed = [pull for pull in pulls if not (pull.is_open or pull.merged or pull.emptied)]
        found: dict[tuple[str, str], int] = {}
        for pull in closed[:_DECLINED_LOOKED_AT]:
            for path, blob in self._blobs(pull.head, folder).items():
                found.setdefault((path, blob), pull.number)
        return found

    def _blobs(self, commit: str, folder: str) -> dict[str, str]:
        try:
            listed = self._repository.get_contents(folder, ref=commit)
        except GithubException as error:
            if error.status != 404:
                raise
            listed = []
        if not isinstance(listed, list):
            raise GithubError(f"{folder} is a file in the repository, where the folder of baselines is expected.")
        return {entry.path: entry.sha for entry in listed if entry.type == "file"}

    def _blob(self, data: bytes) -> str:
        return self._repository.create_git_blob(data.decode(), "utf-8").sha


def _pull_request(pull: GithubPullRequest) -> PullRequest:
    return PullRequest(
        number=pull.number,
        url=pull.html_url,
        is_open=pull.state == "open",
        merged=pull.merged_at is not None,
        emptied=EMPTIED in (pull.body or ""),
        head=pull.head.sha,
    )


@contextmanager
def _told(what: str, *, moved: Sequence[str] = (), needs: str = _TO_PROPOSE) -> Iterator[None]:
    """Turns what goes wrong in the body into a GithubError: ``what``, GitHub's own words, and what to do.

    ``moved`` are the words of a refusal which mean that somebody else was faster; ``needs`` is what a missing
    permission is remedied by.
    """
    try:
        yield
    except GithubException as error:
        raise _refused(what, error, moved, needs) from error
    # The last two are what PyGithub stumbles over where an answer is JSON of another shape.
    except (requests.RequestException, BadAttributeException, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())[:300]
        raise GithubError(
            f"GitHub did not answer as it should ({what}: {reason}); the next run tries again."
        ) from error


def _refused(what: str, error: GithubException, moved: Sequence[str], needs: str) -> GithubError:
    message = _message(error)
    told = f"{what[0].upper()}{what[1:]}: GitHub says {message!r} (status {error.status})."
    if error.status == 429 or isinstance(error, RateLimitExceededException):
        return GithubError(f"{told} The rate limit holds for longer than this waits; the next run tries again.")
    if error.status >= 500:
        return GithubError(f"{told} The next run tries again.")
    if error.status == 422 and any(words in message for words in moved):
        return MovedError(told)
    # Whatever the status: this one has come as a 403 and as a 422.
    if "not permitted to create or approve pull requests" in message:
        return ForbiddenError(
            "The repository does not let workflows open pull requests: in its settings, under Actions, General, "
            "Workflow permissions, allow GitHub Actions to create and approve pull requests."
        )
    if error.status == 401:
        return GithubError(f"{told} The token is wrong or has expired: see the input github-token.")
    if error.status in (403, 404) or "Resource not accessible" in message:
        return ForbiddenError(f"{told} {needs}")
    return GithubError(told)


def _message(error: GithubException) -> str:
    data: Any = error.data
    if not isinstance(data, Mapping):
        return str(data or error.message or "nothing")[:300]
    details = [
        str(one["message"]) for one in data.get("errors") or [] if isinstance(one, Mapping) and one.get("message")
    ]
    return "; ".join([str(data.get("message") or "nothing"), *details])[:300]
