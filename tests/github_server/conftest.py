"""PyGithub, unpatched, against the hub; and what every test of a pull request starts from."""

from collections.abc import Callable

import pytest
from github import Auth, Github, InputGitTreeElement
from github.PullRequest import PullRequest
from github.Repository import Repository

from github_server.fixtures import hub
from github_server.hub import Hub

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
def propose(repository: Repository) -> Callable[..., str]:
    """Commit one file by the API on top of a branch, move or create the branch BRANCH there, return the SHA."""

    def commit(content: str, onto: str = "main", force: bool = False) -> str:
        base = repository.get_git_commit(repository.get_branch(onto).commit.sha)
        entry = InputGitTreeElement("baselines/a.json", "100644", "blob", content)
        tree = repository.create_git_tree([entry], base.tree)
        sha = repository.create_git_commit(f"Propose {content}", tree, [base]).sha
        if any(it.name == BRANCH for it in repository.get_branches()):
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
