"""Files, folders, history and comparisons."""

import base64

import pytest
import requests
from github import GithubException
from github.Repository import Repository

from github_server.conftest import client
from github_server.hub import Hub

MEGABYTE = 1024 * 1024


def test_a_file_and_a_folder(hub: Hub, repository: Repository) -> None:
    hub.person.commit("main", {"a/b c.json": b"{}", "a/d/e": b""}, "More")
    file = repository.get_contents("a/b c.json", ref="main")
    assert not isinstance(file, list)
    assert (file.decoded_content, file.type, file.size) == (b"{}", "file", 2)
    assert file.sha == repository.get_git_tree("main", recursive=True).tree[2].sha
    folder = repository.get_contents("a", ref="main")
    assert isinstance(folder, list)
    assert [(it.type, it.path) for it in folder] == [("file", "a/b c.json"), ("dir", "a/d")]
    root = repository.get_contents("")
    assert isinstance(root, list)
    assert [it.name for it in root] == ["README.md", "a"]


@pytest.mark.parametrize(("path", "ref"), [("none", "main"), ("README.md/x", "main"), ("README.md", "none")])
def test_what_is_not_there_is_404(repository: Repository, path: str, ref: str) -> None:
    with pytest.raises(GithubException) as error:
        repository.get_contents(path, ref=ref)
    assert error.value.status == 404


def test_above_a_megabyte_only_the_content_is_missing(hub: Hub, repository: Repository) -> None:
    data = b"x" * (MEGABYTE + 1)
    hub.person.commit("main", {"small": data[:-1], "large": data}, "More")
    small, large = (repository.get_contents(it) for it in ("small", "large"))
    assert not isinstance(small, list)
    assert not isinstance(large, list)
    assert small.encoding == "base64"
    assert (large.encoding, large.content, large.size) == ("none", "", len(data))
    assert base64.b64decode(repository.get_git_blob(large.sha).content) == data
    raw = {"Authorization": f"Bearer {hub.token}", "Accept": "application/vnd.github.raw+json"}
    assert requests.get(large.url, headers=raw, timeout=5).content == data


def test_history_of_a_branch_and_of_a_path(hub: Hub, repository: Repository) -> None:
    hub.person.commit("main", {"a": b"1"}, "First")
    hub.person.commit("main", {"b": b"1"}, "Second")
    assert [it.commit.message for it in repository.get_commits(sha="main")] == ["Second", "First", "Begin"]
    assert [it.commit.message for it in repository.get_commits(path="a")] == ["First"]
    assert repository.get_commits()[0].author.login == "ada"
    assert [it.message for it in hub.commits("main")] == ["Second", "First", "Begin"]
    commit = repository.get_commits()[0]
    assert [(it.filename, it.status, it.additions) for it in commit.files] == [("b", "added", 1)]


def test_comparisons(hub: Hub, repository: Repository) -> None:
    hub.person.create_branch("a/b", "main")
    assert repository.compare("main", "a/b").status == "identical"
    mine = hub.person.commit("a/b", {"x": b"1\n2\n"}, "Mine")
    ahead = repository.compare("main", "a/b")
    assert (ahead.status, ahead.ahead_by, ahead.behind_by, ahead.total_commits) == ("ahead", 1, 0, 1)
    assert [it.sha for it in ahead.commits] == [mine]
    assert [(it.filename, it.status, it.additions) for it in ahead.files] == [("x", "added", 2)]
    hub.person.commit("main", {"README.md": None}, "Theirs")
    assert repository.compare("main", mine).status == "diverged"
    assert repository.compare("a/b", "main").status == "diverged"
    with pytest.raises(GithubException) as error:
        _ = repository.compare("main", "none").status
    assert error.value.status == 404


def test_long_lists_come_in_pages(hub: Hub) -> None:
    for number in range(6):
        hub.person.commit("main", {"x": str(number).encode()}, str(number))
    few = client(hub)
    few.per_page = 2
    assert len(list(few.get_repo(hub.full_name).get_commits())) == 7
    asked = [it for it in hub.requests if it.path.endswith("/commits")]
    assert [it.query.get("page", ["1"]) for it in asked] == [["1"], ["2"], ["3"], ["4"]]


def test_an_answer_that_is_known_is_304(hub: Hub, repository: Repository) -> None:
    assert repository.update() is False
    hub.state.clock.advance(days=1)
    assert repository.update() is True
    assert [it.status for it in hub.requests] == [200, 304, 200]
