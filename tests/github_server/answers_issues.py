"""What GitHub's answers about issues, pull requests, labels and comments are made of."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from github_server import answers
from github_server.answers import Json, api, stamp, user, web
from github_server.repository import GitError
from github_server.state import Comment, Issue, Label, PullRequest

if TYPE_CHECKING:
    from github_server.hub import Hub


def label(hub: "Hub", it: Label) -> Json:
    """Return a label."""
    return {
        "id": it.id,
        "node_id": f"LA_{it.id}",
        "url": api(hub, f"/labels/{quote(it.name)}"),
        "name": it.name,
        "color": it.color,
        "default": False,
        # GitHub gives null for a label without a description, which its description of a pull request forbids.
        "description": it.description,
    }


def comment(hub: "Hub", it: Comment) -> Json:
    """Return a comment."""
    kind = "pull" if isinstance(hub.state.issues[it.number], PullRequest) else "issues"
    return {
        "id": it.id,
        "node_id": f"IC_{it.id}",
        "url": api(hub, f"/issues/comments/{it.id}"),
        "html_url": web(hub, f"/{kind}/{it.number}#issuecomment-{it.id}"),
        "issue_url": api(hub, f"/issues/{it.number}"),
        "body": it.body,
        "user": user(hub, it.login),
        "created_at": stamp(it.created_at),
        "updated_at": stamp(it.updated_at),
        "author_association": _association(hub, it.login),
    }


def issue(hub: "Hub", it: Issue) -> Json:
    """Return an issue, or a pull request as an issue."""
    address, kind = api(hub, f"/issues/{it.number}"), "pull" if isinstance(it, PullRequest) else "issues"
    facts = _shared(hub, it) | {
        "url": address,
        "html_url": web(hub, f"/{kind}/{it.number}"),
        "repository_url": api(hub),
        "labels_url": f"{address}/labels{{/name}}",
        "comments_url": f"{address}/comments",
        "events_url": f"{address}/events",
        "comments": _comments(hub, it),
        "closed_by": user(hub, it.closed_by) if it.closed_by else None,
    }
    if isinstance(it, PullRequest):
        page = web(hub, f"/pull/{it.number}")
        facts["pull_request"] = {
            "url": api(hub, f"/pulls/{it.number}"),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": stamp(it.merged_at),
        }
    return facts


def pull(hub: "Hub", it: PullRequest, full: bool = False, fresh: bool = False) -> Json:
    """Return a pull request as it stands in a list, or (``full``) alone; ``fresh``: just opened or changed."""
    address, page, number = api(hub, f"/pulls/{it.number}"), web(hub, f"/pull/{it.number}"), it.number
    links = {
        "self": address,
        "html": page,
        "issue": api(hub, f"/issues/{number}"),
        "comments": api(hub, f"/issues/{number}/comments"),
        "review_comments": f"{address}/comments",
        "review_comment": api(hub, "/pulls/comments{/number}"),
        "commits": f"{address}/commits",
        "statuses": api(hub, f"/statuses/{it.head_sha}"),
    }
    facts = _shared(hub, it) | {
        "url": address,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": links["issue"],
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": links["statuses"],
        "draft": it.draft,
        "merged_at": stamp(it.merged_at),
        "merge_commit_sha": it.merge_commit_sha,
        "requested_reviewers": [user(hub, login) for login in it.reviewers],
        "requested_teams": [],
        "auto_merge": None,
        "head": _side(hub, it.head, it.head_sha),
        "base": _side(hub, it.base, it.base_sha),
        "_links": {name: {"href": address} for name, address in links.items()},
    }
    return facts | _alone(hub, it, fresh) if full else facts


def _alone(hub: "Hub", it: PullRequest, fresh: bool) -> Json:
    start = hub.repository.merge_base(it.base_sha, it.head_sha) or it.base_sha
    changes = hub.repository.changes(start, it.head_sha)
    # GitHub works it out after it has answered, and says null until it knows.
    mergeable = None if fresh or it.state == "closed" else _mergeable(hub, it)
    return {
        "merged": it.merged,
        "merged_by": user(hub, it.merged_by) if it.merged_by else None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": {None: "unknown", True: "clean", False: "dirty"}[mergeable],
        "comments": _comments(hub, it),
        "review_comments": 0,
        "maintainer_can_modify": it.maintainer_can_modify,
        "commits": len(hub.repository.log(it.head_sha, f"^{start}")),
        "additions": sum(change[3] for change in changes),
        "deletions": sum(change[4] for change in changes),
        "changed_files": len(changes),
    }


def _mergeable(hub: "Hub", it: PullRequest) -> bool:
    try:
        hub.repository.merged_tree(hub.lifecycle.branch(it.base) or it.base_sha, it.head_sha)
    except GitError:
        return False
    return True


def _shared(hub: "Hub", it: Issue) -> Json:
    assignees = [user(hub, login) for login in it.assignees]
    return {
        "id": 10_000 + it.number,
        "node_id": f"I_{it.number}",
        "number": it.number,
        "title": it.title,
        "body": it.body,
        "state": it.state,
        "locked": False,
        "active_lock_reason": None,
        "user": user(hub, it.login),
        "labels": [label(hub, hub.state.label(name)) for name in it.labels],
        "milestone": None,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "created_at": stamp(it.created_at),
        "updated_at": stamp(it.updated_at),
        "closed_at": stamp(it.closed_at),
        "author_association": _association(hub, it.login),
    }


def _side(hub: "Hub", branch: str, sha: str) -> Json:
    facts = {"label": f"{hub.owner}:{branch}", "ref": branch, "sha": sha}
    return facts | {"user": user(hub, hub.owner), "repo": answers.repository(hub)}


def _comments(hub: "Hub", it: Issue) -> int:
    return sum(comment.number == it.number for comment in hub.state.comments)


def _association(hub: "Hub", login: str) -> str:
    return "OWNER" if login == hub.owner else "CONTRIBUTOR"
