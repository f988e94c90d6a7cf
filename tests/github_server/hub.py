"""The hub: one repository on a local GitHub, with all that a test sets and inspects."""

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from github_server.access import Access
from github_server.commits import Commit, read_commit
from github_server.contract import Contract
from github_server.faults import SECONDARY_LIMIT, Before, Fault, Faults
from github_server.lifecycle import Lifecycle
from github_server.people import Person
from github_server.repository import Repository
from github_server.state import ACTIONS, Comment, Ping, PullRequest, State

_BOT_EMAIL = "41898282+github-actions[bot]@users.noreply.github.com"


@dataclass(frozen=True)
class Logged:
    """A request as it came, and the status that it got; 0: the connection was closed on it."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    body: Any
    status: int


class Hub:
    """A repository on GitHub. Set ``permissions``, ``installation`` and the like at any time; they hold at once."""

    def __init__(self, folder: Path, contract: Contract, owner: str, name: str, default_branch: str) -> None:
        self.owner = owner
        self.name = name
        self.default_branch = default_branch
        self.git_dir = folder / f"{name}.git"
        self.url = ""
        self.token = "ghs_" + "t0ken" * 7
        self.installation = True
        self.private = False
        self.drafts_supported = True
        self.actions_may_open_pull_requests = True
        self.collaborators = {owner, "ada"}
        self.lock = threading.RLock()
        self.contract = contract
        self.access = Access(self.token)
        self.faults = Faults()
        self.state = State(accounts={_BOT_EMAIL: ACTIONS})
        self.born = self.state.clock.now
        self.repository = Repository(self.git_dir, default_branch)
        self.lifecycle = Lifecycle(self.repository, self.state)
        self.person = Person(self, "ada")
        self.requests: list[Logged] = []
        self.violations: list[str] = []

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def permissions(self) -> dict[str, str]:
        """The token's permissions: ``contents``, ``issues``, ``pull_requests``, each write, read or none."""
        return self.access.permissions

    @property
    def pull_requests(self) -> list[PullRequest]:
        """All pull requests, the oldest first."""
        return self.state.pull_requests

    @property
    def comments(self) -> list[Comment]:
        """All comments, the oldest first."""
        return self.state.comments

    @property
    def pings(self) -> list[Ping]:
        """What the token under test did that notifies people."""
        return self.state.pings

    @property
    def writes(self) -> list[Logged]:
        """The requests that are not GET."""
        return [it for it in self.requests if it.method != "GET"]

    def use_personal_token(self, login: str) -> None:
        """Let the token be a person's from now on, and not a workflow's."""
        self.installation = False
        self.state.token_login = login
        self.state.accounts[f"{login}@example.com"] = login

    def fault(
        self,
        method: str,
        path: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        times: int | None = 1,
        close: bool = False,
        delay: float = 0.0,
        applied: bool = False,
    ) -> None:
        """Let the next ``times`` requests of a method (``*``: any) whose path the pattern ``path`` finds go wrong.

        ``status`` with ``headers`` and ``body`` (text: HTML, else JSON) is answered, or the connection is closed
        (``close``), after ``delay`` seconds; with none of these the answer is right, only late. ``applied``: what was
        asked for is done all the same, and only its answer is lost. ``times`` None: from now on always.
        """
        pattern = re.compile(path)
        self.faults.faults.append(
            Fault(method, pattern, times, status, dict(headers or {}), body, close, delay, applied)
        )

    def before(self, method: str, path: str, callback: Callable[[], object], times: int | None = 1) -> None:
        """Call ``callback`` just before each of the next ``times`` such requests is answered."""
        self.faults.callbacks.append(Before(method, re.compile(path), times, callback))

    def secondary_limit(self, *, times: int = 1, status: int = 403, retry_after: int | None = 1) -> None:
        """Refuse the next requests for GitHub's secondary rate limit."""
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        self.fault("*", "", status=status, headers=headers, body={"message": SECONDARY_LIMIT}, times=times)

    def file(self, ref: str, path: str) -> bytes | None:
        """Return a file's content at a branch or commit, None when it is not there."""
        with self.lock:
            found = self.repository.read(f"{ref}:{path}")
            return found.data if found and found.kind == "blob" else None

    def commits(self, ref: str) -> list[Commit]:
        """Return the history of a branch or commit, the newest first; empty when there is no such ref."""
        with self.lock:
            tip = self.repository.sha(ref)
            found = [read_commit(self.repository, sha) for sha in self.repository.log(tip)] if tip else []
            return [it for it in found if it]

    def branches(self) -> dict[str, str]:
        """Return where each branch stands."""
        with self.lock:
            refs = self.repository.refs("refs/heads/")
            return {name.removeprefix("refs/heads/"): sha for name, sha in refs.items()}
