"""What GitHub's answers are made of: people, the repository, commits, refs, files."""

import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from github_server.commits import Commit, Signature

if TYPE_CHECKING:
    from github_server.hub import Hub

Json = dict[str, Any]

WEB = "https://github.com"
_ACTIONS_ID = 41898282

_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_REPOSITORY_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "statuses_url": "/statuses/{sha}",
    "trees_url": "/git/trees{/sha}",
} | {
    f"{name}_url": f"/{name}"
    for name in (
        *("contributors", "deployments", "downloads", "events", "forks", "hooks", "languages", "merges"),
        *("stargazers", "subscribers", "subscription", "tags", "teams"),
    )
}


def stamp(moment: datetime | None) -> str | None:
    """Return a time as GitHub writes it, None for none."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def identity(text: str) -> int:
    """Return a number that stands for a thing, the same in every run."""
    return zlib.crc32(text.encode())


def api(hub: "Hub", path: str = "") -> str:
    """Return the address of something of the repository in the API."""
    return f"{hub.url}/repos/{hub.full_name}{path}"


def web(hub: "Hub", path: str = "") -> str:
    """Return the address of something of the repository on the web pages."""
    return f"{WEB}/{hub.full_name}{path}"


def user(hub: "Hub", login: str) -> Json:
    """Return a simple user."""
    is_bot = login.endswith("[bot]")
    number = _ACTIONS_ID if login == "github-actions[bot]" else identity(login)
    page = f"{WEB}/apps/{login.removesuffix('[bot]')}" if is_bot else f"{WEB}/{login}"
    return {
        "login": login,
        "id": number,
        "node_id": f"U_{number}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{number}",
        "gravatar_id": "",
        "url": f"{hub.url}/users/{quote(login)}",
        "html_url": page,
        "type": "Bot" if is_bot else "User",
        "site_admin": False,
    } | {name: f"{hub.url}/users/{quote(login)}{path}" for name, path in _USER_LINKS.items()}


def repository(hub: "Hub", full: bool = False) -> Json:
    """Return the repository, as it stands in a pull request or (``full``) alone."""
    pulls = sum(it.state == "open" for it in hub.state.issues.values())
    plain: Json = {
        "id": identity(hub.full_name),
        "node_id": f"R_{identity(hub.full_name)}",
        "name": hub.name,
        "full_name": hub.full_name,
        "owner": user(hub, hub.owner),
        "private": hub.private,
        "visibility": "private" if hub.private else "public",
        "html_url": web(hub),
        "url": api(hub),
        "clone_url": f"{web(hub)}.git",
        "git_url": f"git://github.com/{hub.full_name}.git",
        "ssh_url": f"git@github.com:{hub.full_name}.git",
        "svn_url": web(hub),
        "default_branch": hub.default_branch,
        "created_at": stamp(hub.born),
        "updated_at": stamp(hub.state.clock.now),
        "pushed_at": stamp(hub.state.clock.now),
        "size": 1,
        "open_issues": pulls,
        "open_issues_count": pulls,
        "topics": [],
    }
    plain |= dict.fromkeys(("description", "homepage", "language", "license", "mirror_url"))
    plain |= dict.fromkeys(("fork", "has_pages", "archived", "disabled", "is_template", "has_discussions"), False)
    plain |= dict.fromkeys(("has_issues", "has_projects", "has_wiki", "has_downloads", "allow_forking"), True)
    plain |= dict.fromkeys(("forks", "forks_count", "stargazers_count", "watchers", "watchers_count"), 0)
    plain |= {name: api(hub, path) for name, path in _REPOSITORY_LINKS.items()}
    return plain | ({"network_count": 0, "subscribers_count": 0} if full else {})


def git_ref(hub: "Hub", name: str, sha: str) -> Json:
    """Return a reference, by its full name."""
    found = hub.repository.read(sha)
    kind = found.kind if found else "commit"
    return {
        "ref": name,
        "node_id": f"REF_{identity(name)}",
        "url": api(hub, f"/git/{quote(name)}"),
        "object": {"type": kind, "sha": sha, "url": api(hub, f"/git/{kind}s/{sha}")},
    }


def git_commit(hub: "Hub", commit: Commit) -> Json:
    """Return a commit as the git database gives it."""
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "url": api(hub, f"/git/commits/{commit.sha}"),
        "html_url": web(hub, f"/commit/{commit.sha}"),
        "author": _signature(commit.author),
        "committer": _signature(commit.committer),
        "tree": {"sha": commit.tree, "url": api(hub, f"/git/trees/{commit.tree}")},
        "message": commit.message,
        "parents": [_parent(hub, sha, "/git/commits/") for sha in commit.parents],
        "verification": _verification(hub, commit),
    }


def commit(hub: "Hub", it: Commit) -> Json:
    """Return a commit with its GitHub accounts, where the e-mail addresses belong to any."""
    plain = git_commit(hub, it)
    inner = {key: plain[key] for key in ("author", "committer", "tree", "message", "verification", "url")}
    logins = [hub.state.accounts.get(who.email) for who in (it.author, it.committer)]
    author, committer = (user(hub, login) if login else None for login in logins)
    return {
        "sha": it.sha,
        "node_id": plain["node_id"],
        "url": api(hub, f"/commits/{it.sha}"),
        "html_url": plain["html_url"],
        "comments_url": api(hub, f"/commits/{it.sha}/comments"),
        "commit": inner | {"comment_count": 0},
        "author": author,
        "committer": committer,
        "parents": [_parent(hub, sha, "/commits/") for sha in it.parents],
    }


def changed_file(hub: "Hub", ref: str, change: tuple[str, str, str, int, int]) -> Json:
    """Return one file of a comparison; its patch is left out, as GitHub does for a large one."""
    path, letter, sha, added, removed = change
    where = quote(path)
    return {
        "sha": sha,
        "filename": path,
        "status": {"A": "added", "D": "removed"}.get(letter, "modified"),
        "additions": added,
        "deletions": removed,
        "changes": added + removed,
        "blob_url": web(hub, f"/blob/{ref}/{where}"),
        "raw_url": web(hub, f"/raw/{ref}/{where}"),
        "contents_url": api(hub, f"/contents/{where}?ref={ref}"),
    }


def _signature(who: Signature) -> Mapping[str, str | None]:
    return {"name": who.name, "email": who.email, "date": stamp(who.date)}


def _parent(hub: "Hub", sha: str, path: str) -> Json:
    return {"sha": sha, "url": api(hub, path + sha), "html_url": web(hub, f"/commit/{sha}")}


def _verification(hub: "Hub", commit: Commit) -> Json:
    verified = commit.sha in hub.state.verified
    plain = dict.fromkeys(("signature", "payload", "verified_at"))
    if verified:
        plain = {"signature": "-----BEGIN PGP SIGNATURE-----", "payload": "", "verified_at": stamp(hub.state.clock.now)}
    return {"verified": verified, "reason": "valid" if verified else "unsigned", **plain}
