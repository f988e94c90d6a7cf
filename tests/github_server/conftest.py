"""PyGithub, unpatched, against the hub; and what every test of a pull request starts from."""

from collections.abc import Callable

import pytest
from github import Auth, Github
from github.PullRequest import PullRequest
from github.Repository import Repository

from github_server.commits import Signature, write_commit
from github_server.fixtures import hub
from github_server.hub import Hub
from github_server.state import ACTIONS

__all__ = ["hub"]

BRANCH = "membench/update"


def client(hub: Hub, token: str | None = None) -> Github:
    """Return PyGithub without the pauses that it makes between requests, and without retries."""
    return Github(
        base_url=hub.url,
        auth=Auth.Token(token or hub.token),
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )


@pytest.fixture
def repository(hub: Hub) -> Repository:
    return client(hub).get_repo(hub.full_name)


@pytest.fixture
def propose(hub: Hub, repository: Repository) -> Callable[..., str]:
    """Commit one file on top of a branch, move or create the branch BRANCH there by the API, return the SHA."""

    def commit(content: str, onto: str = "main", force: bool = False) -> str:
        with hub.lock:
            tip, git = hub.branches()[onto], hub.repository
            tree = git.write_tree(tip, {"baselines/a.json": ("100644", git.write_blob(content.encode()))})
            who = Signature(ACTIONS, "bot@example.com", hub.state.clock.tick())
            sha = write_commit(git, tree, [tip], f"Propose {content}", who)
        if BRANCH in hub.branches():
            repository.get_git_ref(f"heads/{BRANCH}").edit(sha, force=force)
        else:
            repository.create_git_ref(f"refs/heads/{BRANCH}", sha)
        return sha

    return commit


@pytest.fixture
def pull(repository: Repository, propose: Callable[..., str]) -> PullRequest:
    """An open pull request of the branch BRANCH."""
    propose("1")
    return repository.create_pull(base="main", head=BRANCH, title="Accept", body="Figures")
