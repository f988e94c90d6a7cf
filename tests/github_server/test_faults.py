"""Misbehaviour on demand."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from github import GithubException
from github.Repository import Repository

from github_server.conftest import client
from github_server.faults import HTML_502
from github_server.hub import Hub


def test_a_fault_is_answered_so_often(hub: Hub, repository: Repository) -> None:
    hub.fault("GET", r"/branches/main$", status=502, body=HTML_502, times=2)
    for _ in range(2):
        with pytest.raises(GithubException) as error:
            repository.get_branch("main")
        assert error.value.status == 502
    assert repository.get_branch("main").name == "main"
    assert [it.status for it in hub.requests] == [200, 502, 502, 200]


def test_a_fault_is_for_what_it_names(hub: Hub, repository: Repository) -> None:
    hub.fault("POST", r"/git/blobs$", status=500, body={"message": "broken"}, times=None)
    assert repository.get_branch("main").name == "main"
    for _ in range(3):
        with pytest.raises(GithubException) as error:
            repository.create_git_blob("x", "utf-8")
        assert error.value.data == {"message": "broken"}
    assert [(it.method, it.status) for it in hub.writes] == [("POST", 500)] * 3


def test_a_closed_connection(hub: Hub, repository: Repository) -> None:
    hub.fault("GET", r"/branches/main$", close=True)
    with pytest.raises(requests.ConnectionError):
        repository.get_branch("main")
    assert hub.requests[-1].status == 0
    assert repository.get_branch("main").name == "main"


def test_a_lost_answer_to_what_was_done(hub: Hub, repository: Repository) -> None:
    sha = hub.branches()["main"]
    hub.fault("POST", r"/git/refs$", status=502, body=HTML_502, applied=True)
    with pytest.raises(GithubException):
        repository.create_git_ref("refs/heads/b", sha)
    assert hub.branches() == {"b": sha, "main": sha}
    hub.fault("POST", r"/git/refs$", close=True)
    with pytest.raises(requests.ConnectionError):
        repository.create_git_ref("refs/heads/c", sha)
    assert "c" not in hub.branches()


def test_a_slow_answer_is_right_and_holds_up_no_other(hub: Hub, repository: Repository) -> None:
    hub.fault("GET", r"/branches/main$", delay=0.3)
    ended: list[str] = []

    def ask(ref: str) -> None:
        assert client(hub).get_repo(hub.full_name).get_branch(ref).name == ref
        ended.append(ref)

    hub.person.create_branch("quick", "main")
    begin = time.monotonic()
    with ThreadPoolExecutor() as pool:
        list(pool.map(ask, ["main", "quick"]))
    assert time.monotonic() - begin >= 0.3
    assert ended == ["quick", "main"]


def test_something_happens_just_before(hub: Hub, repository: Repository) -> None:
    hub.person.create_branch("b", "main")
    hub.before("PATCH", r"/git/refs/heads/b$", lambda: hub.person.delete_branch("b"))
    ref = repository.get_git_ref("heads/b")
    with pytest.raises(GithubException) as error:
        ref.edit(hub.branches()["main"])
    assert error.value.data["message"] == "Reference does not exist"
    hub.person.create_branch("b", "main")
    ref.edit(hub.branches()["main"])


def test_what_happens_before_may_ask_the_server_itself(hub: Hub, repository: Repository) -> None:
    hub.before("POST", r"/git/refs$", lambda: repository.create_git_blob("x", "utf-8"))
    repository.create_git_ref("refs/heads/b", hub.branches()["main"])
    assert [it.path.rpartition("/")[2] for it in hub.writes] == ["blobs", "refs"]
