"""The repository itself, its branches, files and history."""

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from github_server import answers
from github_server.commits import Commit, read_commit
from github_server.contract import RAW
from github_server.repository import Found
from github_server.routing import Answer, Refusal, Request, not_found, page, route

if TYPE_CHECKING:
    from github_server.hub import Hub

_MEGABYTE = 1024 * 1024
_HISTORY = {"sha", "path", "per_page", "page"}


@route("GET", "/R")
def get_repository(hub: "Hub", request: Request) -> Answer:
    return Answer(200, answers.repository(hub, full=True))


@route("GET", "/R/branches/{branch}", "contents")
def get_branch(hub: "Hub", request: Request) -> Answer:
    name = request.parameters["branch"]
    tip = hub.lifecycle.branch(name)
    if tip is None:
        raise not_found("Branch not found")
    address = answers.api(hub, f"/branches/{quote(name)}")
    facts = _short_branch(hub, name, tip) | {
        "commit": answers.commit(hub, _commit(hub, tip)),
        "_links": {"self": address, "html": answers.web(hub, f"/tree/{quote(name)}")},
    }
    return Answer(200, facts)


@route("GET", "/R/branches", "contents")
def list_branches(hub: "Hub", request: Request) -> Answer:
    found = {name.removeprefix("refs/heads/"): sha for name, sha in hub.repository.refs("refs/heads/").items()}
    branches, links = page(hub, request, [_short_branch(hub, name, sha) for name, sha in found.items()])
    return Answer(200, branches, links)


@route("GET", "/R/contents/{path}", "contents")
def get_contents(hub: "Hub", request: Request) -> Answer:
    ref, path = request.query.get("ref", hub.default_branch), request.parameters["path"].strip("/")
    if hub.repository.sha(ref) is None:
        raise not_found(f"No commit found for the ref {ref}")
    found = hub.repository.read(f"{ref}:{path}")
    if found is None:
        raise not_found()
    if found.kind == "tree":
        entries = hub.repository.tree(found.sha)
        children = [(f"{path}/{it.path}".strip("/"), it) for it in entries]
        return Answer(200, [_entry(hub, ref, where, it.kind, it.sha, it.size or 0) for where, it in children])
    if request.wants("raw"):
        return Answer(200, found.data, media=RAW)
    return Answer(200, _file(hub, ref, path, found))


@route("GET", "/R/commits", "contents")
def list_commits(hub: "Hub", request: Request) -> Answer:
    unplayed = set(request.query) - _HISTORY
    if unplayed:
        raise Refusal(501, f"This server does not play the parameters {sorted(unplayed)} of a list of commits")
    start = hub.repository.sha(request.query.get("sha", hub.default_branch))
    if start is None:
        raise not_found()
    path = request.query.get("path")
    shas, links = page(hub, request, hub.repository.log(start, *(["--", path] if path else [])))
    return Answer(200, [answers.commit(hub, _commit(hub, sha)) for sha in shas], links)


@route("GET", "/R/commits/{ref}", "contents")
def get_commit(hub: "Hub", request: Request) -> Answer:
    ref = request.parameters["ref"]
    found = read_commit(hub.repository, ref)
    if found is None:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    # The first commit of a history is compared with the empty tree.
    before = found.parents[0] if found.parents else hub.repository.write_tree(None, {})
    changes = hub.repository.changes(before, found.sha)
    added, removed = sum(it[3] for it in changes), sum(it[4] for it in changes)
    stats = {"additions": added, "deletions": removed, "total": added + removed}
    files = [answers.changed_file(hub, found.sha, it) for it in changes]
    return Answer(200, answers.commit(hub, found) | {"stats": stats, "files": files})


# The description has the operation twice, and the second template does not take branches with a slash.
@route("GET", "/R/compare/{base}...{head}", "contents")
@route("GET", "/R/compare/{basehead}", "contents")
def compare(hub: "Hub", request: Request) -> Answer:
    both = request.parameters.get("basehead") or "...".join(request.parameters[it] for it in ("base", "head"))
    names = [it.removeprefix(f"{hub.owner}:") for it in both.split("...")]
    base, head = (hub.repository.sha(it) for it in names) if len(names) == 2 else (None, None)
    merge_base = hub.repository.merge_base(base, head) if base and head else None
    if base is None or head is None or merge_base is None:
        raise not_found()
    ahead, behind = hub.repository.log(head, f"^{base}"), hub.repository.log(base, f"^{head}")
    shown, links = page(hub, request, ahead[::-1], 100)
    status = ("diverged" if behind else "ahead") if ahead else ("behind" if behind else "identical")
    facts: dict[str, Any] = {
        "url": answers.api(hub, f"/compare/{quote(both)}"),
        "html_url": answers.web(hub, f"/compare/{quote(both)}"),
        "permalink_url": answers.web(hub, f"/compare/{hub.owner}:{base[:7]}...{hub.owner}:{head[:7]}"),
        "diff_url": answers.web(hub, f"/compare/{quote(both)}.diff"),
        "patch_url": answers.web(hub, f"/compare/{quote(both)}.patch"),
        "base_commit": answers.commit(hub, _commit(hub, base)),
        "merge_base_commit": answers.commit(hub, _commit(hub, merge_base)),
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [answers.commit(hub, _commit(hub, sha)) for sha in shown],
        "files": [answers.changed_file(hub, head, it) for it in hub.repository.changes(merge_base, head)],
    }
    return Answer(200, facts, links)


def _commit(hub: "Hub", sha: str) -> Commit:
    found = read_commit(hub.repository, sha)
    if found is None:
        raise not_found()
    return found


def _short_branch(hub: "Hub", name: str, tip: str) -> dict[str, Any]:
    return {
        "name": name,
        "commit": {"sha": tip, "url": answers.api(hub, f"/commits/{tip}")},
        "protected": False,
        "protection": {"enabled": False},
        "protection_url": answers.api(hub, f"/branches/{quote(name)}/protection"),
    }


def _file(hub: "Hub", ref: str, path: str, found: Found) -> dict[str, Any]:
    # Above a megabyte only the raw media type and the blob have the content; up to 100 the rest is still told.
    large = len(found.data) > _MEGABYTE
    content = {
        "content": "" if large else base64.encodebytes(found.data).decode(),
        "encoding": "none" if large else "base64",
    }
    return _entry(hub, ref, path, found.kind, found.sha, len(found.data)) | content


def _entry(hub: "Hub", ref: str, path: str, kind: str, sha: str, size: int) -> dict[str, Any]:
    where = quote(path)
    is_file = kind == "blob"
    links = {
        "self": answers.api(hub, f"/contents/{where}?ref={quote(ref)}"),
        "git": answers.api(hub, f"/git/{kind}s/{sha}"),
        "html": answers.web(hub, f"/{kind}/{quote(ref)}/{where}"),
    }
    return {
        "type": "file" if is_file else "dir",
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": size,
        "url": links["self"],
        "git_url": links["git"],
        "html_url": links["html"],
        "download_url": f"https://raw.githubusercontent.com/{hub.full_name}/{quote(ref)}/{where}" if is_file else None,
        "_links": links,
    }
