"""Refs, blobs, trees and commits: real ones, which git can read."""

import base64
import subprocess
from datetime import UTC, datetime

import pytest
from github import GithubException, InputGitAuthor, InputGitTreeElement
from github.Repository import Repository

from github_server.hub import Hub

ABSENT = "1" * 40


def git(hub: Hub, *arguments: str) -> str:
    return subprocess.run(
        ["git", "--git-dir", str(hub.git_dir), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def refused(error: pytest.ExceptionInfo[GithubException]) -> tuple[int, str]:
    return error.value.status, error.value.data["message"]


def test_a_ref_is_created_moved_and_deleted_in_git(hub: Hub, repository: Repository) -> None:
    first = repository.get_git_ref("heads/main").object.sha
    assert first == git(hub, "rev-parse", "refs/heads/main")
    ref = repository.create_git_ref("refs/heads/a/b", first)
    assert ref.ref == "refs/heads/a/b"
    second = hub.person.commit("main", {"x": b"x"}, "More")
    repository.get_git_ref("heads/a/b").edit(second)
    assert git(hub, "rev-parse", "refs/heads/a/b") == second
    assert repository.get_branch("a/b").commit.sha == second
    assert [it.ref for it in repository.get_git_matching_refs("heads/a")] == ["refs/heads/a/b"]
    repository.get_git_ref("heads/a/b").delete()
    assert hub.branches() == {"main": second}
    assert list(repository.get_git_matching_refs("heads/a")) == []


def test_refusals_of_refs(hub: Hub, repository: Repository) -> None:
    first = repository.get_git_ref("heads/main").object.sha
    with pytest.raises(GithubException) as error:
        repository.create_git_ref("refs/heads/main", first)
    assert refused(error) == (422, "Reference already exists")
    with pytest.raises(GithubException) as error:
        repository.create_git_ref("refs/heads/main/below", first)
    assert refused(error) == (422, "Reference update failed")
    with pytest.raises(GithubException) as error:
        repository.create_git_ref("refs/heads/new", ABSENT)
    assert refused(error) == (422, "Object does not exist")
    with pytest.raises(GithubException) as error:
        repository.get_git_ref("heads/none")
    assert error.value.status == 404
    with pytest.raises(GithubException) as error:
        repository.get_branch("none")
    assert refused(error) == (404, "Branch not found")
    ref = repository.create_git_ref("refs/heads/gone", first)
    hub.person.delete_branch("gone")
    for call in (lambda: ref.edit(first), ref.delete):
        with pytest.raises(GithubException) as error:
            call()
        assert refused(error) == (422, "Reference does not exist")


def test_only_force_moves_a_branch_to_what_does_not_hold_it(hub: Hub, repository: Repository) -> None:
    first = repository.get_git_ref("heads/main").object.sha
    hub.person.create_branch("b", first)
    second = hub.person.commit("b", {"x": b"x"}, "More")
    with pytest.raises(GithubException) as error:
        repository.get_git_ref("heads/b").edit(first)
    assert refused(error) == (422, "Update is not a fast forward")
    assert hub.branches()["b"] == second
    repository.get_git_ref("heads/b").edit(first, force=True)
    assert hub.branches()["b"] == first


@pytest.mark.parametrize("encoding", ["utf-8", "base64"])
def test_a_blob_comes_back_as_it_went(hub: Hub, repository: Repository, encoding: str) -> None:
    data = bytes(range(256)) if encoding == "base64" else "zwölf\n".encode()
    content = base64.b64encode(data).decode() if encoding == "base64" else data.decode()
    sha = repository.create_git_blob(content, encoding).sha
    assert git(hub, "cat-file", "-t", sha) == "blob"
    assert base64.b64decode(repository.get_git_blob(sha).content) == data


def test_a_tree_adds_to_its_base_and_a_null_removes(hub: Hub, repository: Repository) -> None:
    hub.person.commit("main", {"a/b.txt": b"b", "a/c.txt": b"c"}, "More")
    base = repository.get_git_tree("main")
    entries = [
        InputGitTreeElement("a/b.txt", "100644", "blob", sha=None),
        InputGitTreeElement("d/e f.txt", "100755", "blob", content="e"),
    ]
    tree = repository.create_git_tree(entries, base)
    names = [it.path for it in repository.get_git_tree(tree.sha, recursive=True).tree]
    assert names == ["README.md", "a", "a/c.txt", "d", "d/e f.txt"]
    assert [it.path for it in tree.tree] == ["README.md", "a", "d"]
    assert git(hub, "ls-tree", "-r", tree.sha, "d").split()[0] == "100755"
    alone = repository.create_git_tree([InputGitTreeElement("x", "100644", "blob", content="x")])
    assert [it.path for it in alone.tree] == ["x"]


def test_refusals_of_trees_and_commits(repository: Repository) -> None:
    base = repository.get_git_tree("main")
    with pytest.raises(GithubException) as error:
        repository.create_git_tree([InputGitTreeElement("none", "100644", "blob", sha=None)], base)
    assert refused(error) == (422, "GitRPC::BadObjectState")
    with pytest.raises(GithubException) as error:
        repository.create_git_tree([InputGitTreeElement("x", "100644", "blob", sha=ABSENT)], base)
    assert error.value.status == 422
    with pytest.raises(GithubException) as error:
        repository.get_git_tree(ABSENT)
    assert error.value.status == 404
    commit = repository.get_git_commit(repository.get_branch("main").commit.sha)
    blob = repository.create_git_blob("x", "utf-8")
    blob_as_tree = repository.get_git_tree("main")
    blob_as_tree._sha = blob._sha
    with pytest.raises(GithubException) as error:
        repository.create_git_commit("x", blob_as_tree, [commit])
    assert refused(error) == (422, "Tree SHA does not exist")


def test_a_commit_is_by_the_tokens_app_and_signed_unless_it_says_whose_it_is(hub: Hub, repository: Repository) -> None:
    base = repository.get_git_commit(repository.get_branch("main").commit.sha)
    mine = repository.create_git_commit("First line\n\nmore", base.tree, [base])
    assert mine.author.name == "github-actions[bot]"
    assert mine.raw_data["verification"]["verified"] is True
    assert git(hub, "cat-file", "commit", mine.sha).endswith("First line\n\nmore")
    assert repository.get_commit(mine.sha).author.login == "github-actions[bot]"
    when = datetime(2026, 3, 1, 12, tzinfo=UTC)
    who = InputGitAuthor("Ada", "ada@example.org", when.strftime("%Y-%m-%dT%H:%M:%SZ"))
    hers = repository.create_git_commit("x", base.tree, [base], who)
    assert hers.raw_data["verification"]["verified"] is False
    assert git(hub, "log", "-1", "--format=%an <%ae> %at %cn", hers.sha) == (
        f"Ada <ada@example.org> {int(when.timestamp())} Ada"
    )
    # The address belongs to no account.
    assert repository.get_commit(hers.sha).author is None
    assert hub.commits(hers.sha)[0].parents == (base.sha,)


def test_equal_runs_give_equal_commits(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> None:
    from github_server import github_server

    files = {"README.md": b"# memory\n"}
    with github_server(tmp_path_factory.mktemp("other") / "hub", files=files) as other:
        assert other.branches() == hub.branches()
