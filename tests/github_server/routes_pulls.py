"""Pull requests."""

from typing import TYPE_CHECKING, Any

from github_server import answers, answers_issues
from github_server.commits import read_commit
from github_server.routing import Answer, Refusal, Request, invalid, not_found, page, route
from github_server.state import PullRequest

if TYPE_CHECKING:
    from github_server.hub import Hub

LONGEST_BODY = 65_536
_LONGEST_TITLE = 256


@route("GET", "/R/pulls", "pull_requests")
def list_pulls(hub: "Hub", request: Request) -> Answer:
    state, head, base = (request.query.get(it) for it in ("state", "head", "base"))
    found = [it for it in hub.state.pull_requests if state == "all" or it.state == (state or "open")]
    # GitHub ignores a head that does not name its owner.
    if head and ":" in head:
        found = [it for it in found if f"{hub.owner}:{it.head}" == head]
    if base:
        found = [it for it in found if it.base == base]
    sort = request.query.get("sort", "created")
    if sort not in ("created", "updated"):
        raise Refusal(501, f"This server does not play the sort {sort} of pull requests")
    found.sort(key=lambda it: (it.created_at if sort == "created" else it.updated_at, it.number))
    if request.query.get("direction", "desc" if sort == "created" else "asc") == "desc":
        found.reverse()
    pulls, links = page(hub, request, found)
    return Answer(200, [answers_issues.pull(hub, it) for it in pulls], links)


@route("POST", "/R/pulls", "pull_requests")
def create_pull(hub: "Hub", request: Request) -> Answer:
    body = request.body
    if hub.installation and not hub.actions_may_open_pull_requests:
        raise Refusal(403, "GitHub Actions is not permitted to create or approve pull requests.")
    if "issue" in body:
        raise Refusal(501, "This server does not turn issues into pull requests")
    if not body.get("title"):
        raise invalid("PullRequest", "title", "missing_field")
    _check_texts(body)
    head, base = body["head"].removeprefix(f"{hub.owner}:"), body["base"]
    head_sha, base_sha = _sides(hub, head, base)
    if body.get("draft") and not hub.drafts_supported:
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    now = hub.state.clock.tick()
    by = str(request.login)
    pull = PullRequest(
        number=1 + max(hub.state.issues, default=0),
        title=body["title"],
        body=body.get("body"),
        login=by,
        created_at=now,
        updated_at=now,
        head=head,
        head_sha=head_sha,
        base=base,
        base_sha=base_sha,
        draft=body.get("draft", False),
        maintainer_can_modify=False,
    )
    hub.lifecycle.open(pull, by)
    facts = answers_issues.pull(hub, pull, full=True, fresh=True)
    return Answer(201, facts, {"Location": facts["url"]})


@route("GET", "/R/pulls/{pull_number}", "pull_requests")
def get_pull(hub: "Hub", request: Request) -> Answer:
    return Answer(200, answers_issues.pull(hub, find_pull(hub, request), full=True))


@route("PATCH", "/R/pulls/{pull_number}", "pull_requests")
def update_pull(hub: "Hub", request: Request) -> Answer:
    pull, body = find_pull(hub, request), request.body or {}
    _check_texts(body)
    if "base" in body and body["base"] != pull.base:
        _change_base(hub, pull, body["base"])
    by, state = str(request.login), body.get("state", pull.state)
    if state == "open" and pull.state == "closed":
        reason = hub.lifecycle.why_not_reopen(pull)
        if reason:
            raise invalid("PullRequest", "state", message=f"state cannot be changed. {reason}")
        hub.lifecycle.reopen(pull, by)
    elif state == "closed" and pull.state == "open":
        hub.lifecycle.close(pull, by)
    pull.title, pull.body = body.get("title", pull.title), body.get("body", pull.body)
    pull.updated_at = hub.state.clock.tick()
    return Answer(200, answers_issues.pull(hub, pull, full=True, fresh=True))


@route("GET", "/R/pulls/{pull_number}/commits", "pull_requests")
def list_commits(hub: "Hub", request: Request) -> Answer:
    pull = find_pull(hub, request)
    shas, links = page(hub, request, hub.repository.log(pull.head_sha, f"^{pull.base_sha}")[::-1])
    found = [read_commit(hub.repository, sha) for sha in shas]
    return Answer(200, [answers.commit(hub, it) for it in found if it], links)


@route("GET", "/R/pulls/{pull_number}/files", "pull_requests")
def list_files(hub: "Hub", request: Request) -> Answer:
    pull = find_pull(hub, request)
    start = hub.repository.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    files, links = page(hub, request, hub.repository.changes(start, pull.head_sha))
    return Answer(200, [answers.changed_file(hub, pull.head_sha, it) for it in files], links)


@route("GET", "/R/pulls/{pull_number}/merge", "contents")
def is_merged(hub: "Hub", request: Request) -> Answer:
    if not find_pull(hub, request).merged:
        raise not_found()
    return Answer(204)


@route("POST", "/R/pulls/{pull_number}/requested_reviewers", "pull_requests")
def request_reviewers(hub: "Hub", request: Request) -> Answer:
    pull, body = find_pull(hub, request), request.body or {}
    reviewers = body.get("reviewers", [])
    if pull.login in reviewers:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if body.get("team_reviewers") or not set(reviewers) <= hub.collaborators:
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not"
            f" a collaborator of the {hub.full_name} repository.",
        )
    # GitHub notifies again a reviewer who is asked again.
    pull.reviewers = [*pull.reviewers, *(it for it in reviewers if it not in pull.reviewers)]
    for _ in reviewers:
        hub.state.ping("review_requested", pull.number, str(request.login))
    pull.updated_at = hub.state.clock.tick()
    return Answer(201, answers_issues.pull(hub, pull))


def find_pull(hub: "Hub", request: Request) -> PullRequest:
    """Return the pull request of the path. Raises the refusal 404."""
    found = hub.state.issues.get(request.number())
    if not isinstance(found, PullRequest):
        raise not_found()
    return found


def _check_texts(body: dict[str, Any]) -> None:
    if len(body.get("body") or "") > LONGEST_BODY:
        raise invalid("Issue", "body", message=f"body is too long (maximum is {LONGEST_BODY} characters)")
    if len(body.get("title") or "") > _LONGEST_TITLE:
        raise invalid("Issue", "title", message=f"title is too long (maximum is {_LONGEST_TITLE} characters)")


def _sides(hub: "Hub", head: str, base: str) -> tuple[str, str]:
    """Return where the two branches stand. Raises the refusals of a pull request that cannot be opened."""
    base_sha, head_sha = hub.lifecycle.branch(base), hub.lifecycle.branch(head)
    if base_sha is None or head_sha is None:
        raise invalid("PullRequest", "base" if base_sha is None else "head", "invalid")
    if hub.repository.is_ancestor(head_sha, base_sha):
        raise invalid("PullRequest", message=f"No commits between {base} and {head}")
    if hub.repository.merge_base(base_sha, head_sha) is None:
        names = f"The {hub.owner}:{head} branch has no history in common with {hub.owner}:{base}"
        raise invalid("PullRequest", message=names)
    if any((it.head, it.base, it.state) == (head, base, "open") for it in hub.state.pull_requests):
        raise invalid("PullRequest", message=f"A pull request already exists for {hub.owner}:{head}.")
    return head_sha, base_sha


def _change_base(hub: "Hub", pull: PullRequest, base: str) -> None:
    tip = hub.lifecycle.branch(base)
    if tip is None:
        raise invalid("PullRequest", "base", "invalid", f"Proposed base branch '{base}' was not found")
    if hub.repository.is_ancestor(pull.head_sha, tip):
        raise invalid("PullRequest", "base", message=f"There are no new commits between base branch '{base}' and head")
    pull.base, pull.base_sha = base, tip
