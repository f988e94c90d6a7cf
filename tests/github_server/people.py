"""What people do to the repository, on the web page or with git."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from github_server.commits import Signature, read_commit, write_commit
from github_server.repository import GitError
from github_server.state import Comment, PullRequest

if TYPE_CHECKING:
    from github_server.hub import Hub

Files = Mapping[str, bytes | None]


class Person:
    """A person with all rights. Every method acts at once and raises ValueError where GitHub would refuse."""

    def __init__(self, hub: "Hub", login: str) -> None:
        self._hub = hub
        self.login = login
        self.email = f"{login}@example.com"
        hub.state.accounts[self.email] = login

    def commit(self, branch: str, files: Files, message: str) -> str:
        """Commit files (None removes one) to a branch, also the first commit of a new repository; return the SHA."""
        with self._hub.lock:
            tip = self._hub.lifecycle.branch(branch)
            repository = self._hub.repository
            changes = {
                path: None if data is None else ("100644", repository.write_blob(data)) for path, data in files.items()
            }
            tree = repository.write_tree(tip, changes)
            sha = write_commit(repository, tree, [tip] if tip else [], message, self._signature())
            self._hub.lifecycle.move(f"refs/heads/{branch}", sha, self.login)
            return sha

    def create_branch(self, name: str, sha: str) -> None:
        """Create a branch at a commit, or at what another ref stands at."""
        with self._hub.lock:
            found = self._hub.repository.sha(sha)
            if found is None or self._hub.lifecycle.branch(name):
                raise ValueError(f"The branch {name} exists, or the commit {sha} does not")
            self._hub.lifecycle.move(f"refs/heads/{name}", found, self.login)

    def reset_branch(self, name: str, sha: str) -> None:
        """Force a branch to a commit, as a forced push does."""
        with self._hub.lock:
            found = self._hub.repository.sha(sha)
            if found is None or self._hub.lifecycle.branch(name) is None:
                raise ValueError(f"The branch {name} or the commit {sha} does not exist")
            self._hub.lifecycle.move(f"refs/heads/{name}", found, self.login)

    def delete_branch(self, name: str) -> None:
        """Delete a branch; an open pull request of it is closed."""
        with self._hub.lock:
            if self._hub.lifecycle.branch(name) is None:
                raise ValueError(f"There is no branch {name}")
            self._hub.lifecycle.move(f"refs/heads/{name}", None, self.login)

    def merge(self, number: int, method: str = "merge") -> str:
        """Merge an open pull request by ``merge``, ``squash`` or ``rebase``; return the merge commit's SHA."""
        with self._hub.lock:
            pull = self._pull(number)
            tip = self._hub.lifecycle.branch(pull.base)
            if pull.state != "open" or tip is None:
                raise ValueError(f"Pull request {number} is not open, or its base is gone")
            try:
                sha = {"merge": self._merged, "squash": self._squashed, "rebase": self._rebased}[method](pull, tip)
            except GitError as error:
                raise ValueError(f"Pull request {number} conflicts with its base: {error}") from error
            self._hub.lifecycle.merge(pull, sha, self.login)
            self._hub.lifecycle.move(f"refs/heads/{pull.base}", sha, self.login)
            return sha

    def close(self, number: int) -> None:
        """Close an issue or a pull request, unmerged."""
        with self._hub.lock:
            self._hub.lifecycle.close(self._hub.state.issues[number], self.login)

    def reopen(self, number: int) -> None:
        """Open a closed pull request again."""
        with self._hub.lock:
            reason = self._hub.lifecycle.why_not_reopen(self._pull(number))
            if reason:
                raise ValueError(f"state cannot be changed. {reason}")
            self._hub.lifecycle.reopen(self._pull(number), self.login)

    def edit(self, number: int, **fields: Any) -> None:
        """Set fields of an issue or a pull request: title, body, labels, draft."""
        with self._hub.lock:
            for name, value in fields.items():
                if name not in ("title", "body", "labels", "draft"):
                    raise ValueError(f"A person does not edit {name}")
                setattr(self._hub.state.issues[number], name, value)
            self._hub.state.issues[number].updated_at = self._hub.state.clock.tick()

    def comment(self, number: int, body: str) -> Comment:
        """Comment on an issue or a pull request."""
        with self._hub.lock:
            return self._hub.state.comment(number, body, self.login)

    def _pull(self, number: int) -> PullRequest:
        found = self._hub.state.issues.get(number)
        if not isinstance(found, PullRequest):
            raise ValueError(f"There is no pull request {number}")
        return found

    def _merged(self, pull: PullRequest, tip: str) -> str:
        tree = self._hub.repository.merged_tree(tip, pull.head_sha)
        message = f"Merge pull request #{pull.number} from {self._hub.owner}/{pull.head}\n\n{pull.title}"
        return write_commit(self._hub.repository, tree, [tip, pull.head_sha], message, self._signature())

    def _squashed(self, pull: PullRequest, tip: str) -> str:
        tree = self._hub.repository.merged_tree(tip, pull.head_sha)
        return write_commit(self._hub.repository, tree, [tip], f"{pull.title} (#{pull.number})", self._signature())

    def _rebased(self, pull: PullRequest, tip: str) -> str:
        repository = self._hub.repository
        for sha in repository.log("--no-merges", pull.head_sha, f"^{tip}")[::-1]:
            commit = read_commit(repository, sha)
            if commit:
                tree = repository.replayed_tree(sha, tip)
                tip = write_commit(repository, tree, [tip], commit.message, commit.author, self._signature())
        return tip

    def _signature(self) -> Signature:
        return Signature(self.login, self.email, self._hub.state.clock.tick())
