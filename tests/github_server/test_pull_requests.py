"""The life of a pull request, by the API and by people."""

from collections.abc import Callable
from typing import Any

import pytest
from github import GithubException
from github.PullRequest import PullRequest
from github.Repository import Repository

from github_server.conftest import BRANCH, client
from github_server.hub import Hub
from github_server.state import Ping

Propose = Callable[..., str]


def detail(error: pytest.ExceptionInfo[GithubException]) -> dict[str, Any]:
    assert (error.value.status, error.value.data["message"]) == (422, "Validation Failed")
    (found,) = error.value.data["errors"]
    return dict(found)


def kept(hub: Hub, number: int) -> str | None:
    return hub.repository.ref(f"refs/pull/{number}/head")


def test_one_is_opened_with_what_it_says(hub: Hub, repository: Repository, propose: Propose) -> None:
    sha = propose("1")
    made = repository.create_pull(base="main", head=f"{hub.owner}:{BRANCH}", title="T", body="B", draft=True)
    assert (made.number, made.state, made.draft, made.merged) == (1, "open", True, False)
    assert (made.head.sha, made.head.ref, made.base.ref) == (sha, BRANCH, "main")
    assert (made.user.login, made.commits, made.changed_files) == ("github-actions[bot]", 1, 1)
    assert made.mergeable is None
    assert repository.get_pull(1).mergeable is True
    assert kept(hub, 1) == sha
    assert hub.pings == [Ping("opened", 1)]
    (pull,) = hub.pull_requests
    assert (pull.title, pull.body, pull.head_sha) == ("T", "B", sha)
    assert [it.sha for it in made.get_commits()] == [sha]
    assert [it.filename for it in made.get_files()] == ["baselines/a.json"]


def test_refusals_to_open(hub: Hub, repository: Repository, propose: Propose) -> None:
    def opened(**changed: Any) -> PullRequest:
        return repository.create_pull(**{"base": "main", "head": BRANCH, "title": "T", "body": "B", **changed})

    with pytest.raises(GithubException) as error:
        opened()
    assert detail(error) == {"resource": "PullRequest", "field": "head", "code": "invalid"}
    hub.person.create_branch(BRANCH, "main")
    with pytest.raises(GithubException) as error:
        opened()
    assert detail(error)["message"] == f"No commits between main and {BRANCH}"
    propose("1")
    with pytest.raises(GithubException) as error:
        opened(base="none")
    assert detail(error) == {"resource": "PullRequest", "field": "base", "code": "invalid"}
    with pytest.raises(GithubException) as error:
        opened(body="x" * 65_537)
    assert detail(error)["message"] == "body is too long (maximum is 65536 characters)"
    hub.drafts_supported = False
    with pytest.raises(GithubException) as error:
        opened(draft=True)
    assert error.value.data["message"] == "Draft pull requests are not supported in this repository."
    assert hub.pull_requests == []
    opened(body="x" * 65_536)
    with pytest.raises(GithubException) as error:
        opened()
    assert detail(error)["message"] == f"A pull request already exists for {hub.owner}:{BRANCH}."
    assert len(hub.pull_requests) == 1


def test_the_setting_that_keeps_actions_from_opening_one(hub: Hub, repository: Repository, propose: Propose) -> None:
    propose("1")
    hub.actions_may_open_pull_requests = False
    with pytest.raises(GithubException) as error:
        repository.create_pull(base="main", head=BRANCH, title="T", body="B")
    assert error.value.status == 403
    assert error.value.data["message"] == "GitHub Actions is not permitted to create or approve pull requests."
    hub.use_personal_token("grace")
    assert repository.create_pull(base="main", head=BRANCH, title="T", body="B").user.login == "grace"


def test_lists_are_filtered_sorted_and_paged(hub: Hub, repository: Repository, pull: PullRequest) -> None:
    for name in ("b", "c"):
        hub.person.create_branch(name, "main")
        hub.person.commit(name, {name: b""}, name)
        repository.create_pull(base="main", head=name, title=name, body="")
    hub.person.close(2)

    def numbers(**query: str) -> list[int]:
        return [it.number for it in repository.get_pulls(**query)]

    assert numbers() == [3, 1]
    assert numbers(direction="asc") == [1, 3]
    assert numbers(state="all") == [3, 2, 1]
    assert numbers(state="closed") == [2]
    assert numbers(state="all", head=f"{hub.owner}:{BRANCH}") == [1]
    assert numbers(head="someone:b") == []
    assert numbers(base="none") == []
    pull.edit(title="later")
    assert numbers(sort="updated", direction="desc", state="all") == [1, 2, 3]
    few = client(hub)
    few.per_page = 1
    assert [it.number for it in few.get_repo(hub.full_name).get_pulls(state="all", head=f"{hub.owner}:c")] == [3]
    assert [it.number for it in few.get_repo(hub.full_name).get_pulls(state="all")] == [3, 2, 1]


def test_it_is_edited(hub: Hub, pull: PullRequest) -> None:
    before = pull.updated_at
    pull.edit(title="Other", body="New")
    assert (hub.pull_requests[0].title, hub.pull_requests[0].body) == ("Other", "New")
    assert pull.updated_at > before
    with pytest.raises(GithubException) as error:
        pull.edit(body="x" * 65_537)
    assert "too long" in detail(error)["message"]
    with pytest.raises(GithubException) as error:
        pull.edit(base="none")
    assert detail(error)["field"] == "base"
    hub.person.create_branch("next", "main")
    pull.edit(base="next")
    assert hub.pull_requests[0].base == "next"
    assert hub.pings == [Ping("opened", 1)]


def test_a_push_moves_it_only_while_it_is_open(hub: Hub, pull: PullRequest, propose: Propose) -> None:
    second = propose("2", onto=BRANCH)
    pull.update()
    assert pull.head.sha == kept(hub, 1) == second
    assert hub.pings == [Ping("opened", 1), Ping("pushed", 1)]
    hub.person.close(1)
    third = hub.person.commit(BRANCH, {"x": b""}, "After")
    pull.update()
    assert (pull.state, pull.merged, pull.head.sha, kept(hub, 1)) == ("closed", False, second, second)
    pull.edit(state="open")
    assert (pull.state, pull.head.sha, kept(hub, 1)) == ("open", third, third)


def test_deleting_its_branch_closes_it_and_keeps_its_head(hub: Hub, repository: Repository, pull: PullRequest) -> None:
    head = pull.head.sha
    repository.get_git_ref(f"heads/{BRANCH}").delete()
    pull.update()
    assert (pull.state, pull.merged, pull.head.sha) == ("closed", False, head)
    assert kept(hub, 1) == head
    assert hub.pings == [Ping("opened", 1), Ping("closed", 1)]
    with pytest.raises(GithubException) as error:
        pull.edit(state="open")
    assert detail(error)["message"] == f"state cannot be changed. The {BRANCH} branch has been deleted."


def test_a_forced_push_keeps_a_closed_one_closed(hub: Hub, pull: PullRequest, propose: Propose) -> None:
    pull.edit(state="closed")
    propose("2", force=True)
    with pytest.raises(GithubException) as error:
        pull.edit(state="open")
    expected = f"state cannot be changed. The {BRANCH} branch was force-pushed or recreated."
    assert detail(error)["message"] == expected
    assert hub.pings == [Ping("opened", 1), Ping("closed", 1)]


def test_without_commits_of_its_own_it_is_closed_and_not_merged(hub: Hub, pull: PullRequest) -> None:
    hub.person.reset_branch(BRANCH, "main")
    pull.update()
    assert (pull.state, pull.merged) == ("closed", False)


def test_one_whose_commits_are_pushed_to_the_base_is_merged(
    hub: Hub, repository: Repository, pull: PullRequest
) -> None:
    repository.get_git_ref("heads/main").edit(pull.head.sha)
    pull.update()
    assert (pull.state, pull.merged, pull.is_merged()) == ("closed", True, True)
    with pytest.raises(GithubException) as error:
        pull.edit(state="open")
    assert detail(error)["message"] == "state cannot be changed. The pull request cannot be reopened."


@pytest.mark.parametrize(("method", "parents"), [("merge", 2), ("squash", 1), ("rebase", 1)])
def test_a_person_merges_it(hub: Hub, pull: PullRequest, propose: Propose, method: str, parents: int) -> None:
    propose("2", onto=BRANCH)
    hub.person.commit("main", {"other": b""}, "Meanwhile")
    sha = hub.person.merge(1, method=method)
    pull.update()
    assert (pull.merged, pull.merge_commit_sha, pull.merged_by.login) == (True, sha, "ada")
    assert hub.branches()["main"] == sha
    assert hub.file("main", "baselines/a.json") == b"2"
    assert hub.file("main", "other") == b""
    assert len(hub.commits("main")[0].parents) == parents
    assert len(hub.commits("main")) == {"merge": 5, "squash": 3, "rebase": 4}[method]
    # What people do is no ping of the token's.
    assert hub.pings == [Ping("opened", 1), Ping("pushed", 1)]
    with pytest.raises(ValueError, match="not open"):
        hub.person.merge(1)


def test_a_conflict(hub: Hub, repository: Repository, pull: PullRequest) -> None:
    hub.person.commit("main", {"baselines/a.json": b"other"}, "Meanwhile")
    assert repository.get_pull(1).mergeable is False
    for method in ("merge", "squash", "rebase"):
        with pytest.raises(ValueError, match="conflicts"):
            hub.person.merge(1, method=method)
    assert hub.pull_requests[0].state == "open"


def test_people_close_and_reopen(hub: Hub, pull: PullRequest) -> None:
    hub.person.close(1)
    pull.update()
    assert (pull.state, pull.closed_at is not None) == ("closed", True)
    hub.person.reopen(1)
    pull.update()
    assert (pull.state, pull.closed_at) == ("open", None)
    hub.person.delete_branch(BRANCH)
    with pytest.raises(ValueError, match="has been deleted"):
        hub.person.reopen(1)
    hub.person.create_branch(BRANCH, "refs/pull/1/head")
    hub.person.reopen(1)
    assert hub.pull_requests[0].state == "open"


def test_reviewers(hub: Hub, pull: PullRequest) -> None:
    pull.create_review_request(reviewers=["ada"])
    assert hub.pull_requests[0].reviewers == ["ada"]
    assert hub.pings == [Ping("opened", 1), Ping("review_requested", 1)]
    with pytest.raises(GithubException) as error:
        pull.create_review_request(reviewers=["stranger"])
    assert error.value.status == 422
    assert "not a collaborator" in error.value.data["message"]


def test_one_that_is_not_there(repository: Repository) -> None:
    with pytest.raises(GithubException) as error:
        repository.get_pull(7)
    assert error.value.status == 404
