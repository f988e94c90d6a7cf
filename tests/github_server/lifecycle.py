"""What moving a branch does to pull requests, and how they are opened, closed, reopened and merged."""

from datetime import datetime

from github_server.repository import Repository
from github_server.state import Issue, PullRequest, State


def head_ref(number: int) -> str:
    """Return the ref that keeps a pull request's head, also when its branch is gone."""
    return f"refs/pull/{number}/head"


class Lifecycle:
    """The rules that hold whoever acts: ``by`` is the login of the actor."""

    def __init__(self, repository: Repository, state: State) -> None:
        self._repository = repository
        self._state = state

    def branch(self, name: str) -> str | None:
        """Return the SHA that a branch stands at, None when there is no such branch."""
        return self._repository.ref(f"refs/heads/{name}")

    def move(self, ref: str, new: str | None, by: str) -> None:
        """Create, move or (None) delete a full ref, with all that follows for pull requests. Raises GitError."""
        old = self._repository.ref(ref)
        if new == old:
            return
        self._repository.update_ref(ref, new, old)
        now = self._state.clock.tick()
        if ref.startswith("refs/heads/"):
            for pull in self._open():
                self._follow(pull, ref.removeprefix("refs/heads/"), new, by, now)

    def open(self, pull: PullRequest, by: str) -> None:
        """Add a new pull request and its ref."""
        self._state.issues[pull.number] = pull
        self._repository.update_ref(head_ref(pull.number), pull.head_sha)
        self._state.ping("opened", pull.number, by)

    def close(self, issue: Issue, by: str, now: datetime | None = None) -> None:
        """Close an issue or a pull request, unmerged."""
        issue.state = "closed"
        issue.updated_at = issue.closed_at = now or self._state.clock.tick()
        issue.closed_by = by
        self._state.ping("closed", issue.number, by)

    def reopen(self, issue: Issue, by: str) -> None:
        """Open an issue or a pull request again; the latter's head is where its branch is now."""
        issue.state, issue.closed_at, issue.closed_by = "open", None, None
        issue.updated_at = self._state.clock.tick()
        if isinstance(issue, PullRequest):
            self._advance(issue, self.branch(issue.head) or issue.head_sha)
        self._state.ping("reopened", issue.number, by)

    def merge(self, pull: PullRequest, commit: str, by: str) -> None:
        """Record that a pull request was merged as ``commit``; moving the base is the caller's part."""
        pull.state = "closed"
        pull.updated_at = pull.closed_at = pull.merged_at = self._state.clock.now
        pull.closed_by = pull.merged_by = by
        pull.merge_commit_sha = commit

    def why_not_reopen(self, pull: PullRequest) -> str | None:
        """Return GitHub's reason why a closed pull request cannot be opened again, None when it can."""
        tip = self.branch(pull.head)
        if pull.merged:
            return "The pull request cannot be reopened."
        if tip is None:
            return f"The {pull.head} branch has been deleted."
        if self.branch(pull.base) is None:
            return f"The {pull.base} branch has been deleted."
        if not self._repository.is_ancestor(pull.head_sha, tip):
            return f"The {pull.head} branch was force-pushed or recreated."
        if any((it.head, it.base) == (pull.head, pull.base) for it in self._open()):
            return f"A pull request already exists for {pull.head}."
        return None

    def _open(self) -> list[PullRequest]:
        return [it for it in self._state.pull_requests if it.state == "open"]

    def _follow(self, pull: PullRequest, branch: str, new: str | None, by: str, now: datetime) -> None:
        if branch not in (pull.head, pull.base):
            return
        if new is None:
            self.close(pull, by, now)
        elif branch == pull.base:
            # Its commits are in the base by another way: GitHub calls that merged.
            if self._repository.is_ancestor(pull.head_sha, new):
                self.merge(pull, new, by)
        else:
            self._advance(pull, new)
            pull.updated_at = now
            self._state.ping("pushed", pull.number, by)
            # Nothing is left to merge: GitHub closes it, and does not call it merged.
            if self._repository.is_ancestor(new, pull.base_sha):
                self.close(pull, by, now)

    def _advance(self, pull: PullRequest, head_sha: str) -> None:
        if head_sha != pull.head_sha:
            self._repository.update_ref(head_ref(pull.number), head_sha, pull.head_sha)
        pull.head_sha = head_sha
        pull.base_sha = self.branch(pull.base) or pull.base_sha
