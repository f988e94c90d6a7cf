"""Comments, labels and assignees."""

import pytest
from github import GithubException
from github.PullRequest import PullRequest
from github.Repository import Repository

from github_server.hub import Hub
from github_server.state import Ping


def test_comments_are_written_listed_edited_and_deleted(hub: Hub, pull: PullRequest) -> None:
    first = pull.create_issue_comment("one")
    hub.person.comment(1, "two")
    assert [(it.body, it.user.login) for it in pull.get_issue_comments()] == [
        ("one", "github-actions[bot]"),
        ("two", "ada"),
    ]
    first.edit("changed")
    assert pull.get_issue_comment(first.id).body == "changed"
    assert hub.pings == [Ping("opened", 1), Ping("commented", 1)]
    first.delete()
    assert [it.body for it in hub.comments] == ["two"]
    with pytest.raises(GithubException) as error:
        pull.create_issue_comment("x" * 65_537)
    assert error.value.status == 422


def test_an_unknown_label_is_created_by_adding_it(hub: Hub, repository: Repository, pull: PullRequest) -> None:
    pull.add_to_labels("bench", "more")
    pull.add_to_labels("Bench")
    assert hub.pull_requests[0].labels == ["bench", "more"]
    assert [it.name for it in pull.get_labels()] == ["bench", "more"]
    assert [it.name for it in repository.get_labels()] == ["bench", "more"]
    assert [it.name for it in repository.get_pulls()[0].labels] == ["bench", "more"]
    pull.set_labels("other")
    assert hub.pull_requests[0].labels == ["other"]
    pull.remove_from_labels("other")
    assert hub.pull_requests[0].labels == []
    with pytest.raises(GithubException) as error:
        pull.remove_from_labels("other")
    assert error.value.status == 404
    pull.set_labels("a", "b")
    pull.set_labels()
    assert hub.pull_requests[0].labels == []
    assert hub.pings == [Ping("opened", 1)]


def test_labels_of_the_repository(hub: Hub, repository: Repository) -> None:
    with pytest.raises(GithubException) as error:
        repository.get_label("bench")
    assert error.value.status == 404
    repository.create_label("bench", "00ff00", "what it is")
    assert repository.get_label("bench").description == "what it is"
    with pytest.raises(GithubException) as error:
        repository.create_label("Bench", "00ff00")
    assert error.value.data["errors"][0]["code"] == "already_exists"


def test_writing_to_pull_requests_does_not_make_labels(hub: Hub, pull: PullRequest) -> None:
    hub.state.label("known")
    hub.permissions["issues"] = "none"
    pull.add_to_labels("known")
    with pytest.raises(GithubException) as error:
        pull.add_to_labels("unknown")
    assert error.value.status == 403
    assert error.value.data["message"] == "You do not have permission to create labels on this repository."
    assert hub.pull_requests[0].labels == ["known"]


def test_issues(hub: Hub, repository: Repository, pull: PullRequest) -> None:
    issue = repository.create_issue("Broken", "How", labels=["bug"])
    assert (issue.number, issue.pull_request) == (2, None)
    issue.create_comment("hm")
    issue.edit(state="closed")
    assert hub.state.issues[2].state == "closed"
    assert repository.get_issue(2).comments == 1
    assert repository.get_issue(1).pull_request is not None
    assert hub.pings[1:] == [Ping("opened", 2), Ping("commented", 2), Ping("closed", 2)]
    with pytest.raises(GithubException) as error:
        repository.get_pull(2)
    assert error.value.status == 404


def test_only_who_can_be_assigned_is(hub: Hub, pull: PullRequest) -> None:
    pull.add_to_assignees("ada", "stranger")
    assert hub.pull_requests[0].assignees == ["ada"]
    assert hub.pings == [Ping("opened", 1), Ping("assigned", 1)]
