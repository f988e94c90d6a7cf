"""Commits as git writes them and as GitHub reads them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from github_server.repository import Repository


@dataclass(frozen=True)
class Signature:
    """Who made a commit, and when."""

    name: str
    email: str
    date: datetime

    def line(self) -> str:
        """Return it as it stands in a commit."""
        return f"{self.name} <{self.email}> {int(self.date.timestamp())} {self.date:%z}"


@dataclass(frozen=True)
class Commit:
    """A commit, as stored."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


def write_commit(
    repository: Repository,
    tree: str,
    parents: list[str],
    message: str,
    author: Signature,
    committer: Signature | None = None,
) -> str:
    """Store a commit with exactly this message and return its SHA; the committer is by default the author.

    Raises GitError when git does not take it.
    """
    lines = [f"tree {tree}", *(f"parent {it}" for it in parents)]
    lines += [f"author {author.line()}", f"committer {(committer or author).line()}", "", message]
    return repository.write_commit("\n".join(lines).encode())


def read_commit(repository: Repository, name: str) -> Commit | None:
    """Return the commit that a revision names, None when there is none."""
    found = repository.read(f"{name}^{{commit}}")
    if found is None:
        return None
    head, _, message = found.data.decode().partition("\n\n")
    facts = [line.split(" ", 1) for line in head.splitlines()]
    single = {key: value for key, value in facts if key}
    parents = tuple(value for key, value in facts if key == "parent")
    people = [_signature(single[it]) for it in ("author", "committer")]
    return Commit(found.sha, single["tree"], parents, people[0], people[1], message)


def _signature(line: str) -> Signature:
    person, seconds, zone = line.rsplit(" ", 2)
    name, _, email = person.partition(" <")
    minutes = int(zone[1:3]) * 60 + int(zone[3:])
    offset = timedelta(minutes=-minutes if zone[0] == "-" else minutes)
    date = datetime.fromtimestamp(int(seconds), timezone(offset) if offset else UTC)
    return Signature(name, email.removesuffix(">"), date)
