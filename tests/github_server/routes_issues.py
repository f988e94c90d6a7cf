"""Issues, and what pull requests have of them: comments, labels, assignees."""

from typing import TYPE_CHECKING, Any

from github_server import answers_issues
from github_server.routes_pulls import LONGEST_BODY
from github_server.routing import Answer, Refusal, Request, invalid, not_found, page, route
from github_server.state import Comment, Issue, PullRequest

if TYPE_CHECKING:
    from github_server.hub import Hub


def _needs(hub: "Hub", request: Request) -> str:
    # For a pull request the permission for issues alone does not do.
    number = request.parameters.get("issue_number")
    return "pull_requests" if number and isinstance(hub.state.issues.get(int(number)), PullRequest) else "issues"


def _comment_needs(hub: "Hub", request: Request) -> str:
    comment = next((it for it in hub.state.comments if it.id == int(request.parameters["comment_id"])), None)
    on_pull = comment and isinstance(hub.state.issues.get(comment.number), PullRequest)
    return "pull_requests" if on_pull else "issues"


@route("POST", "/R/issues", "issues")
def create_issue(hub: "Hub", request: Request) -> Answer:
    unplayed = set(request.body) - {"title", "body", "labels"}
    if unplayed:
        raise Refusal(501, f"This server does not play the fields {sorted(unplayed)} of a new issue")
    now, by = hub.state.clock.tick(), str(request.login)
    number = 1 + max(hub.state.issues, default=0)
    issue = Issue(number, str(request.body["title"]), _body(request.body.get("body")), by, now, now)
    hub.state.issues[number] = issue
    _add_labels(hub, issue, _names(request.body))
    hub.state.ping("opened", number, by)
    facts = answers_issues.issue(hub, issue)
    return Answer(201, facts, {"Location": facts["url"]})


@route("GET", "/R/issues/{issue_number}", _needs)
def get_issue(hub: "Hub", request: Request) -> Answer:
    return Answer(200, answers_issues.issue(hub, _find(hub, request)))


@route("PATCH", "/R/issues/{issue_number}", _needs)
def update_issue(hub: "Hub", request: Request) -> Answer:
    issue, body = _find(hub, request), request.body or {}
    unplayed = set(body) - {"title", "body", "labels", "state"}
    if unplayed or (isinstance(issue, PullRequest) and body.get("state") == "open"):
        raise Refusal(501, f"This server does not play {sorted(unplayed) or 'the reopening'} of an issue's update")
    if "labels" in body:
        issue.labels = []
        _add_labels(hub, issue, _names(body))
    if body.get("state", issue.state) != issue.state:
        change = hub.lifecycle.close if body["state"] == "closed" else hub.lifecycle.reopen
        change(issue, str(request.login))
    issue.title, issue.body = body.get("title", issue.title), _body(body.get("body", issue.body))
    issue.updated_at = hub.state.clock.tick()
    return Answer(200, answers_issues.issue(hub, issue))


@route("POST", "/R/issues/{issue_number}/comments", _needs)
def create_comment(hub: "Hub", request: Request) -> Answer:
    issue, body = _find(hub, request), _body(request.body["body"])
    if not body:
        raise invalid("IssueComment", "data", "unprocessable", "Body cannot be blank")
    facts = answers_issues.comment(hub, hub.state.comment(issue.number, body, str(request.login)))
    return Answer(201, facts, {"Location": facts["url"]})


@route("GET", "/R/issues/{issue_number}/comments", _needs)
def list_comments(hub: "Hub", request: Request) -> Answer:
    if "since" in request.query:
        raise Refusal(501, "This server does not play the parameter since of a list of comments")
    number = _find(hub, request).number
    comments, links = page(hub, request, [it for it in hub.state.comments if it.number == number])
    return Answer(200, [answers_issues.comment(hub, it) for it in comments], links)


@route("GET", "/R/issues/comments/{comment_id}", _comment_needs)
def get_comment(hub: "Hub", request: Request) -> Answer:
    return Answer(200, answers_issues.comment(hub, _find_comment(hub, request)))


@route("PATCH", "/R/issues/comments/{comment_id}", _comment_needs)
def update_comment(hub: "Hub", request: Request) -> Answer:
    comment = _find_comment(hub, request)
    comment.body, comment.updated_at = str(_body(request.body["body"])), hub.state.clock.tick()
    return Answer(200, answers_issues.comment(hub, comment))


@route("DELETE", "/R/issues/comments/{comment_id}", _comment_needs)
def delete_comment(hub: "Hub", request: Request) -> Answer:
    hub.state.comments.remove(_find_comment(hub, request))
    return Answer(204)


@route("GET", "/R/issues/{issue_number}/labels", _needs)
def list_labels(hub: "Hub", request: Request) -> Answer:
    labels, links = page(hub, request, _labels(hub, _find(hub, request)))
    return Answer(200, labels, links)


@route("POST", "/R/issues/{issue_number}/labels", _needs)
def add_labels(hub: "Hub", request: Request) -> Answer:
    issue = _find(hub, request)
    _add_labels(hub, issue, _names(request.body))
    return Answer(200, _labels(hub, issue))


@route("PUT", "/R/issues/{issue_number}/labels", _needs)
def set_labels(hub: "Hub", request: Request) -> Answer:
    issue, before = _find(hub, request), list(_find(hub, request).labels)
    try:
        issue.labels = []
        _add_labels(hub, issue, _names(request.body))
    except Refusal:
        issue.labels = before
        raise
    return Answer(200, _labels(hub, issue))


@route("DELETE", "/R/issues/{issue_number}/labels", _needs)
def delete_labels(hub: "Hub", request: Request) -> Answer:
    _find(hub, request).labels = []
    return Answer(204)


@route("DELETE", "/R/issues/{issue_number}/labels/{name}", _needs)
def remove_label(hub: "Hub", request: Request) -> Answer:
    issue, name = _find(hub, request), request.parameters["name"].casefold()
    if name not in (it.casefold() for it in issue.labels):
        raise not_found("Label does not exist")
    issue.labels = [it for it in issue.labels if it.casefold() != name]
    return Answer(200, _labels(hub, issue))


@route("POST", "/R/issues/{issue_number}/assignees", _needs)
def add_assignees(hub: "Hub", request: Request) -> Answer:
    issue = _find(hub, request)
    # GitHub leaves out in silence those who cannot be assigned.
    wanted = [it for it in (request.body or {}).get("assignees", ()) if it in hub.collaborators]
    for login in wanted:
        if login not in issue.assignees:
            issue.assignees.append(login)
            hub.state.ping("assigned", issue.number, str(request.login))
    return Answer(201, answers_issues.issue(hub, issue))


@route("GET", "/R/labels", "issues")
def list_repository_labels(hub: "Hub", request: Request) -> Answer:
    labels, links = page(hub, request, [answers_issues.label(hub, it) for it in hub.state.labels.values()])
    return Answer(200, labels, links)


@route("GET", "/R/labels/{name}", "issues")
def get_label(hub: "Hub", request: Request) -> Answer:
    found = hub.state.labels.get(request.parameters["name"].casefold())
    if found is None:
        raise not_found()
    return Answer(200, answers_issues.label(hub, found))


@route("POST", "/R/labels", "issues")
def create_label(hub: "Hub", request: Request) -> Answer:
    body = request.body
    if body["name"].casefold() in hub.state.labels:
        raise invalid("Label", "name", "already_exists")
    label = hub.state.label(body["name"])
    label.color, label.description = body.get("color", label.color), body.get("description") or ""
    facts = answers_issues.label(hub, label)
    return Answer(201, facts, {"Location": facts["url"]})


def _find(hub: "Hub", request: Request) -> Issue:
    found = hub.state.issues.get(request.number())
    if found is None:
        raise not_found()
    return found


def _find_comment(hub: "Hub", request: Request) -> Comment:
    found = next((it for it in hub.state.comments if it.id == int(request.parameters["comment_id"])), None)
    if found is None:
        raise not_found()
    return found


def _body(text: str | None) -> str | None:
    if len(text or "") > LONGEST_BODY:
        raise invalid("Issue", "body", message=f"body is too long (maximum is {LONGEST_BODY} characters)")
    return text


def _names(body: Any) -> list[str]:
    """Return the labels that a body names, in any of the forms that GitHub takes."""
    listed = body.get("labels", []) if isinstance(body, dict) else body or []
    return [it if isinstance(it, str) else it["name"] for it in ([listed] if isinstance(listed, str) else listed)]


def _labels(hub: "Hub", issue: Issue) -> list[dict[str, Any]]:
    return [answers_issues.label(hub, hub.state.label(name)) for name in issue.labels]


def _add_labels(hub: "Hub", issue: Issue, names: list[str]) -> None:
    missing = [it for it in names if it.casefold() not in hub.state.labels]
    # Who may write to a pull request may give it a label, but only who may write to issues can make a new one.
    if missing and not hub.access.may_write("issues"):
        details = {"resource": "Repository", "field": "label", "code": "unauthorized"}
        raise Refusal(403, "You do not have permission to create labels on this repository.", details)
    for name in names:
        label = hub.state.label(name)
        if label.name not in issue.labels:
            issue.labels.append(label.name)
    issue.updated_at = hub.state.clock.tick()
