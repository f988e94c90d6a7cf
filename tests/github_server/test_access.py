"""Tokens, permissions and limits."""

import time

import pytest
import requests
from github import BadCredentialsException, GithubException, RateLimitExceededException
from github.Repository import Repository

from github_server.conftest import client
from github_server.hub import Hub


def test_a_wrong_token(hub: Hub) -> None:
    with pytest.raises(BadCredentialsException) as error:
        client(hub, token="wrong").get_repo(hub.full_name)
    assert (error.value.status, error.value.data["message"]) == (401, "Bad credentials")


def test_no_token(hub: Hub) -> None:
    address = f"{hub.url}/repos/{hub.full_name}"
    assert requests.get(address, timeout=5).status_code == 200
    assert requests.post(f"{address}/labels", json={"name": "x"}, timeout=5).status_code == 401
    hub.private = True
    assert requests.get(address, timeout=5).status_code == 404


@pytest.mark.parametrize("level", ["read", "none"])
def test_a_permission_that_is_missing(hub: Hub, repository: Repository, level: str) -> None:
    hub.permissions["contents"] = level
    assert repository.get_branch("main").name == "main"
    with pytest.raises(GithubException) as error:
        repository.create_git_blob("x", "utf-8")
    assert (error.value.status, error.value.data["message"]) == (403, "Resource not accessible by integration")
    hub.private = True
    if level == "none":
        with pytest.raises(GithubException) as error:
            repository.get_branch("main")
        assert error.value.status == 403
    else:
        assert repository.get_branch("main").name == "main"


def test_each_thing_needs_its_own_permission(hub: Hub, repository: Repository) -> None:
    hub.person.create_branch("b", "main")
    hub.person.commit("b", {"x": b""}, "x")
    hub.permissions.update({"pull_requests": "read"})
    with pytest.raises(GithubException) as error:
        repository.create_pull(base="main", head="b", title="T", body="B")
    assert error.value.status == 403
    hub.permissions.update({"pull_requests": "write", "issues": "none"})
    pull = repository.create_pull(base="main", head="b", title="T", body="B")
    pull.create_issue_comment("fine")
    with pytest.raises(GithubException) as error:
        repository.create_issue("T")
    assert error.value.status == 403
    hub.permissions.update({"pull_requests": "none", "issues": "write"})
    with pytest.raises(GithubException) as error:
        pull.create_issue_comment("not on a pull request")
    assert error.value.status == 403


def test_an_installation_is_nobody(hub: Hub) -> None:
    with pytest.raises(GithubException) as error:
        _ = client(hub).get_user().login
    assert (error.value.status, error.value.data["message"]) == (403, "Resource not accessible by integration")
    hub.use_personal_token("grace")
    assert client(hub).get_user().login == "grace"


def test_another_repository_is_not_there(hub: Hub) -> None:
    with pytest.raises(GithubException) as error:
        client(hub).get_repo("acme/other")
    assert error.value.status == 404


def test_the_primary_limit(hub: Hub) -> None:
    github = client(hub)
    repository = github.get_repo(hub.full_name)
    assert github.rate_limiting == (999, 1000)
    assert github.get_rate_limit().rate.remaining == 999
    hub.access.rate.exhaust(1)
    with pytest.raises(RateLimitExceededException) as error:
        repository.get_branch("main")
    assert error.value.status == 403
    headers = error.value.headers or {}
    assert headers["x-ratelimit-remaining"] == "0"
    assert abs(int(headers["x-ratelimit-reset"]) - time.time()) < 5
    assert github.get_rate_limit().rate.remaining == 0
    hub.access.rate.exhaust(-1)
    assert repository.get_branch("main").name == "main"


@pytest.mark.parametrize("status", [403, 429])
def test_the_secondary_limit(hub: Hub, repository: Repository, status: int) -> None:
    hub.secondary_limit(status=status, retry_after=7)
    with pytest.raises(GithubException) as error:
        repository.get_branch("main")
    assert error.value.status == status
    assert (error.value.headers or {})["retry-after"] == "7"
    assert "secondary rate limit" in error.value.data["message"]
    assert repository.get_branch("main").name == "main"
