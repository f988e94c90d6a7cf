"""The git database: refs, blobs, trees, commits."""

import base64
import binascii
from datetime import datetime
from typing import TYPE_CHECKING, Any

from github_server import answers
from github_server.commits import Signature, read_commit, write_commit
from github_server.contract import RAW
from github_server.repository import GitError
from github_server.routing import Answer, Refusal, Request, invalid, not_found, page, route

if TYPE_CHECKING:
    from github_server.hub import Hub

_BOT = ("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com")


@route("GET", "/R/git/ref/{ref}", "contents")
def get_ref(hub: "Hub", request: Request) -> Answer:
    name = f"refs/{request.parameters['ref']}"
    sha = hub.repository.ref(name)
    if sha is None:
        raise not_found()
    return Answer(200, answers.git_ref(hub, name, sha))


@route("GET", "/R/git/matching-refs/{ref}", "contents")
def matching_refs(hub: "Hub", request: Request) -> Answer:
    found = hub.repository.refs(f"refs/{request.parameters['ref']}")
    refs, links = page(hub, request, [answers.git_ref(hub, name, sha) for name, sha in found.items()])
    return Answer(200, refs, links)


@route("POST", "/R/git/refs", "contents")
def create_ref(hub: "Hub", request: Request) -> Answer:
    name, sha = request.body["ref"], request.body["sha"]
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refusal(422, "Reference name must start with 'refs/' and have at least two slashes")
    if hub.repository.ref(name):
        raise Refusal(422, "Reference already exists")
    _move(hub, request, name, sha)
    return Answer(201, answers.git_ref(hub, name, sha), {"Location": answers.api(hub, f"/git/{name}")})


@route("PATCH", "/R/git/refs/{ref}", "contents")
def update_ref(hub: "Hub", request: Request) -> Answer:
    name, sha = f"refs/{request.parameters['ref']}", request.body["sha"]
    old = hub.repository.ref(name)
    if old is None:
        raise Refusal(422, "Reference does not exist")
    if hub.repository.sha(sha) is None:
        raise Refusal(422, "Object does not exist")
    if not request.body.get("force") and not hub.repository.is_ancestor(old, sha):
        raise Refusal(422, "Update is not a fast forward")
    _move(hub, request, name, sha)
    return Answer(200, answers.git_ref(hub, name, sha))


@route("DELETE", "/R/git/refs/{ref}", "contents")
def delete_ref(hub: "Hub", request: Request) -> Answer:
    name = f"refs/{request.parameters['ref']}"
    if hub.repository.ref(name) is None:
        raise Refusal(422, "Reference does not exist")
    if name == f"refs/heads/{hub.default_branch}":
        raise Refusal(422, "Cannot delete the default branch")
    hub.lifecycle.move(name, None, str(request.login))
    return Answer(204)


@route("POST", "/R/git/blobs", "contents")
def create_blob(hub: "Hub", request: Request) -> Answer:
    content = request.body["content"]
    try:
        coded = request.body.get("encoding", "utf-8") == "base64"
        sha = hub.repository.write_blob(base64.b64decode(content) if coded else content.encode())
    except (binascii.Error, ValueError) as error:
        raise invalid("Blob", "content", "invalid") from error
    url = answers.api(hub, f"/git/blobs/{sha}")
    return Answer(201, {"sha": sha, "url": url}, {"Location": url})


@route("GET", "/R/git/blobs/{file_sha}", "contents")
def get_blob(hub: "Hub", request: Request) -> Answer:
    found = hub.repository.read(request.parameters["file_sha"])
    if found is None or found.kind != "blob":
        raise not_found()
    if request.wants("raw"):
        return Answer(200, found.data, media=RAW)
    facts = {"sha": found.sha, "node_id": f"B_{found.sha}", "size": len(found.data), "encoding": "base64"}
    text = base64.encodebytes(found.data).decode()
    return Answer(200, facts | {"url": answers.api(hub, f"/git/blobs/{found.sha}"), "content": text})


@route("POST", "/R/git/trees", "contents")
def create_tree(hub: "Hub", request: Request) -> Answer:
    if not request.body["tree"]:
        raise Refusal(422, "Invalid tree info")
    base = None
    if "base_tree" in request.body:
        base = hub.repository.sha(request.body["base_tree"], "tree")
        if base is None:
            raise Refusal(422, "base_tree is not a valid tree oid")
    changes = {it["path"]: _change(hub, base, it) for it in request.body["tree"]}
    try:
        sha = hub.repository.write_tree(base, changes)
    except GitError as error:
        raise Refusal(422, f"tree.path is malformed: {error}") from error
    return Answer(201, _tree(hub, sha), {"Location": answers.api(hub, f"/git/trees/{sha}")})


@route("GET", "/R/git/trees/{tree_sha}", "contents")
def get_tree(hub: "Hub", request: Request) -> Answer:
    sha = hub.repository.sha(request.parameters["tree_sha"], "tree")
    if sha is None:
        raise not_found()
    # GitHub takes any value as yes, "0" and "false" too.
    return Answer(200, _tree(hub, sha, recursive="recursive" in request.query))


@route("POST", "/R/git/commits", "contents")
def create_commit(hub: "Hub", request: Request) -> Answer:
    body = request.body
    if hub.repository.sha(body["tree"], "tree") != body["tree"]:
        raise Refusal(422, "Tree SHA does not exist")
    parents = body.get("parents", [])
    if any(hub.repository.sha(it) != it for it in parents):
        raise Refusal(422, "Parent SHA does not exist or is not a commit object")
    now = hub.state.clock.tick()
    name, email = _BOT if hub.installation else (hub.state.token_login, f"{hub.state.token_login}@example.com")
    author = _signature(body.get("author"), Signature(name, email, now))
    committer = _signature(body.get("committer"), author)
    try:
        sha = write_commit(hub.repository, body["tree"], parents, body["message"], author, committer)
    except GitError as error:
        raise Refusal(422, f"The commit is malformed: {error}") from error
    # GitHub signs what an app commits in its own name.
    if hub.installation and "author" not in body and "committer" not in body:
        hub.state.verified.add(sha)
    return Answer(201, _commit(hub, sha), {"Location": answers.api(hub, f"/git/commits/{sha}")})


@route("GET", "/R/git/commits/{commit_sha}", "contents")
def get_commit(hub: "Hub", request: Request) -> Answer:
    return Answer(200, _commit(hub, request.parameters["commit_sha"]))


def _move(hub: "Hub", request: Request, name: str, sha: str) -> None:
    if hub.repository.read(sha) is None:
        raise Refusal(422, "Object does not exist")
    try:
        hub.lifecycle.move(name, sha, str(request.login))
    except GitError as error:
        raise Refusal(422, "Reference update failed") from error


def _change(hub: "Hub", base: str | None, entry: dict[str, Any]) -> tuple[str, str] | None:
    if ("sha" in entry) == ("content" in entry):
        raise Refusal(422, "Must supply either tree.sha or tree.content. Request will be rejected if both are present.")
    if entry.get("type", "blob") != "blob":
        raise Refusal(501, f"This server does not play tree entries of the type {entry['type']}")
    if "content" in entry:
        return entry.get("mode", "100644"), hub.repository.write_blob(entry["content"].encode())
    if entry["sha"] is None:
        if base is None or hub.repository.read(f"{base}:{entry['path']}") is None:
            raise Refusal(422, "GitRPC::BadObjectState")
        return None
    found = hub.repository.read(entry["sha"])
    if found is None or found.kind != "blob":
        raise Refusal(422, f"tree.sha {entry['sha']} is not a valid blob")
    return entry.get("mode", "100644"), entry["sha"]


def _tree(hub: "Hub", sha: str, recursive: bool = False) -> dict[str, Any]:
    entries = []
    for it in hub.repository.tree(sha, recursive):
        size = {} if it.size is None else {"size": it.size}
        url = answers.api(hub, f"/git/{it.kind}s/{it.sha}")
        entries.append({"path": it.path, "mode": it.mode, "type": it.kind, "sha": it.sha, "url": url, **size})
    return {"sha": sha, "url": answers.api(hub, f"/git/trees/{sha}"), "tree": entries, "truncated": False}


def _commit(hub: "Hub", sha: str) -> dict[str, Any]:
    found = read_commit(hub.repository, sha)
    if found is None or found.sha != sha:
        raise not_found()
    return answers.git_commit(hub, found)


def _signature(given: dict[str, str] | None, otherwise: Signature) -> Signature:
    given = given or {}
    date = datetime.fromisoformat(given["date"]) if "date" in given else otherwise.date
    return Signature(given.get("name", otherwise.name), given.get("email", otherwise.email), date)
